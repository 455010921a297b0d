"""Small widgets that know neither models nor sentences."""
