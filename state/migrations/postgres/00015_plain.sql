-- +goose Up
-- SQLite's part says its rules and indexes without lists; PostgreSQL reads a list of constants once.
SELECT 1;
