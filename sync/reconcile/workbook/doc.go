// Package workbook writes workbooks (XLSX): sheets row by row as they come, everything else through
// excelize. A file is never larger than Excel can open, and memory does not grow with the rows.
package workbook
