-- The sample ERP of `safrasync demo`: an imaginary cooperative. Names and figures are invented.

CREATE TABLE filial        (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);
CREATE TABLE produtor      (cod TEXT NOT NULL, loja TEXT NOT NULL, nome TEXT NOT NULL, PRIMARY KEY (cod, loja));
CREATE TABLE carteira      (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);
CREATE TABLE local_entrega (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);
CREATE TABLE usuario       (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);

-- As in many ERPs, the number of a contract is unique by custom, not by the database, and most columns are plain texts.
CREATE TABLE contrato (
  id             INTEGER PRIMARY KEY,
  filial         TEXT,
  numero         TEXT,
  tipo           TEXT, -- CP compra, AF a fixar, FC fixação de compra, FD fixação de depósito
  produto        TEXT, -- 001 soja, 002 milho, 003 trigo
  safra          TEXT,
  quantidade     TEXT, -- 1234.5
  unidade        TEXT,
  preco          TEXT, -- 1.234,56
  moeda          TEXT,
  cod_produtor   TEXT,
  loja           TEXT,
  cod_carteira   TEXT,
  cod_local      TEXT,
  cod_usuario    TEXT,
  emissao        TEXT, -- AAAAMMDD
  entrega_inicio DATE,
  entrega_fim    DATE,
  modalidade     TEXT,
  dt_pagto       TEXT, -- DD/MM/AAAA
  forma_pagto    TEXT,
  situacao       TEXT,
  alterado_em    TEXT
);
CREATE INDEX contrato_numero ON contrato (filial, numero);
CREATE INDEX contrato_alterado ON contrato (alterado_em);

-- The ERP's codes and the platform's ids.
CREATE TABLE de_para (
  tipo TEXT NOT NULL, -- produtor, usuario, carteira, local
  cod  TEXT NOT NULL,
  loja TEXT NOT NULL DEFAULT '',
  uuid TEXT NOT NULL,
  PRIMARY KEY (tipo, cod, loja)
);
