"""The program between Python and machine code: data, a table of operations, their meaning."""
