"""The film of attention and the sample translations: one frame for each validation."""
