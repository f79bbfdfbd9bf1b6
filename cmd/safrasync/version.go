package main

// version is set by the linker: -X main.version=…
var version = "dev"
