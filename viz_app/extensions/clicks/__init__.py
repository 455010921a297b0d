"""What becomes of clicks before a widget gets them."""
