"""The command line, the composition root: the only part of oscsim that knows targets and models."""
