-- +goose Up
-- People who come by an OpenID Connect provider are known by its address and by their number there, never by a name; they have no password.
ALTER TABLE person ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
ALTER TABLE person ADD COLUMN subject TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX person_subject ON person (issuer, subject) WHERE issuer <> '';
