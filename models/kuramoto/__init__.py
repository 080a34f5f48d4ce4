"""Kuramoto attention [KA]: a language model whose state is one phase per coordinate."""

from .attention import KuramotoAttention
from .block import KuramotoBlock
from .config import KuramotoConfig
from .language_model import KuramotoLanguageModel

__all__ = ["KuramotoAttention", "KuramotoBlock", "KuramotoConfig", "KuramotoLanguageModel"]
