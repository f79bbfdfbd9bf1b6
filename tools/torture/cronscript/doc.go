// Command cronscript is the usual fifty lines that cron runs every few minutes: select what was not
// sent, POST it, remember it. It is what the trial compares safrasync with. It is careful in its
// way: it checks the status, keeps the id, and tries again what failed.
package main
