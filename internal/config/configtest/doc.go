// Package configtest loads configurations for the tests of other packages.
//
// What it returns has passed every check of package config. Only tests import it.
package configtest
