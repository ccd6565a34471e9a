"""What commands say and read: options, tables, live views, errors and exit codes."""
