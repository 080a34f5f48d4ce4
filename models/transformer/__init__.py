"""The transformer that oscillator models are measured against: RoPE, SwiGLU, RMSNorm, SDPA."""

from .attention import RotaryAttention
from .language_model import TransformerBlock, TransformerConfig, TransformerLanguageModel

__all__ = ["RotaryAttention", "TransformerBlock", "TransformerConfig", "TransformerLanguageModel"]
