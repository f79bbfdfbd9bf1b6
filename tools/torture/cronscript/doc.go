// Command cronscript is the usual fifty lines that cron runs every few minutes: select what was not
// sent, POST it, store the id. The trial compares safrasync with it. It is reasonably careful: it
// checks the status, stores the id, and tries again what failed.
package main
