-- +goose Up
-- SQLite's part puts the columns of a table in another order, for its shell. Here nothing changes.
SELECT 1;
