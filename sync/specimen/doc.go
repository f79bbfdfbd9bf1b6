// Package specimen makes one row a file for somebody who looks for a fault and must not see whose row
// it is: the row as the ERP has it, with all that its mapping depends on, and what the ledger knows of
// it. Names, documents, prices, quantities, keys and ids are masked.
//
// A mask (mask.go) keeps what the rules look at: lengths, the form of numbers, check digits, which
// values are equal, and which are zero. [Make] proves it for each row: the mapping must find the same of
// the masked row as of the real one, else no file is made. [Read] refuses a file that was altered.
package specimen
