// Package workbook writes workbooks (XLSX) through excelize. A file is never larger than Excel can
// open, and memory does not grow with the rows.
package workbook
