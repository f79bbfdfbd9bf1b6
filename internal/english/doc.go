// Package english finds English in texts that are for people who read Portuguese. Tests use it on
// what the program prints, shows and sends.
package english
