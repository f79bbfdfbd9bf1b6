package main

// What is said of troubles beside what package trade says.
var causeMore = phrase{"… e mais %d", "… and %d more"}
