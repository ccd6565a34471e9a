"""What clients send, by the published models: read with its path, and refused by OTG's error."""
