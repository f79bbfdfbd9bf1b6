// Package workbook writes the file of a workbook (XLSX): sheets row by row as they come, the rest
// as excelize has it. A file is never larger than Excel opens, and memory does not grow with the
// rows.
package workbook
