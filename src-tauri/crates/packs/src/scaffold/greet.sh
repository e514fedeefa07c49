#!/bin/sh
# Prints a greeting. Arguments come as the manifest lists them; what is printed is the result.
echo "Hello, $1!"
