-- The sample ERP of `safrasync demo`: an imaginary cooperative. Names and figures are invented.

CREATE TABLE filial        (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);
CREATE TABLE produtor      (cod TEXT NOT NULL, loja TEXT NOT NULL, nome TEXT NOT NULL, PRIMARY KEY (cod, loja));
CREATE TABLE carteira      (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);
CREATE TABLE local_entrega (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);
CREATE TABLE fazenda       (cod TEXT PRIMARY KEY, nome TEXT NOT NULL);
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

-- Weighing tickets: net = gross − tare − discounts, given to one contract or split over several lines.
CREATE TABLE romaneio (
  filial      TEXT NOT NULL,
  ticket      TEXT NOT NULL,
  data        TEXT, -- AAAAMMDD
  bruto_kg    INTEGER,
  tara_kg     INTEGER,
  desconto_kg INTEGER, -- umidade, impureza, avariados
  car         TEXT,
  situacao    TEXT, -- ABERTO até a segunda pesagem, FECHADO, CANCELADO
  alterado_em TEXT,
  PRIMARY KEY (filial, ticket)
);
CREATE TABLE romaneio_item (
  filial          TEXT NOT NULL,
  ticket          TEXT NOT NULL,
  item            INTEGER NOT NULL,
  filial_contrato TEXT,
  contrato        TEXT,
  volume_liquido  TEXT, -- 1.234,5
  unidade         TEXT,
  PRIMARY KEY (filial, ticket, item)
);

-- Whose grain a contract is made of.
CREATE TABLE rateio (
  filial       TEXT NOT NULL,
  contrato     TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  cod_produtor TEXT,
  loja         TEXT,
  cod_usuario  TEXT,
  cod_fazenda  TEXT,
  volume       TEXT,
  unidade      TEXT,
  alterado_em  TEXT,
  PRIMARY KEY (filial, contrato, seq)
);

-- The ERP's codes and the platform's ids.
CREATE TABLE de_para (
  tipo TEXT NOT NULL, -- produtor, usuario, carteira, local, fazenda
  cod  TEXT NOT NULL,
  loja TEXT NOT NULL DEFAULT '',
  uuid TEXT NOT NULL,
  PRIMARY KEY (tipo, cod, loja)
);
