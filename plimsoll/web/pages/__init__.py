"""What pages show, from records; and their templates."""
