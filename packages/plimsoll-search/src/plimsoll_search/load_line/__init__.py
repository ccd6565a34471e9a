"""Our own strategy: the shortest time to a load that then holds for hours."""
