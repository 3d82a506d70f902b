"""Where kernels run: one interface, one folder for each kind of device."""
