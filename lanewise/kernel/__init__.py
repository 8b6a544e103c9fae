"""The operating system on the device, written in lang: what guest programs call, and how it asks the host for more."""
