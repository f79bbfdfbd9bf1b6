-- An imaginary ERP on MariaDB for tests, with the habits of a web program of the years after 2005: numbers as primary keys, contracts with lines, prices for a sack or
-- a ton, 0000-00-00 for "no date", TINYINT flags, ENUM and words with accents in latin1 tables, rows that are only marked as deleted, and a time of change that the
-- server itself writes. Original schema and synthetic data (no real person, company or property). docs/examples/mariadb.yaml reads it. To load it:
--   mariadb -e 'CREATE DATABASE cereal CHARACTER SET latin1' && mariadb --default-character-set=utf8mb4 cereal <testdata/erp/cereal-mariadb.sql

SET time_zone = '-03:00';
CREATE TABLE depara (tipo CHAR(3) NOT NULL, codigo VARCHAR(20) NOT NULL, uuid CHAR(36), ativo TINYINT(1) NOT NULL, PRIMARY KEY (tipo, codigo)) ENGINE=InnoDB CHARSET=latin1;
CREATE TABLE propriedade (codigo INT PRIMARY KEY, nome VARCHAR(40), car VARCHAR(60)) ENGINE=InnoDB CHARSET=latin1;
CREATE TABLE contrato (
  id INT PRIMARY KEY, empresa SMALLINT NOT NULL, numero INT NOT NULL, tipo ENUM('COMPRA', 'A FIXAR', 'VENDA', 'DEPÓSITO'), safra VARCHAR(10), produtor_id INT,
  usuario VARCHAR(20), carteira INT, data DATE, entrega_ini DATE, entrega_fim DATE, pagamento DATE, moeda CHAR(3), modalidade VARCHAR(15), permuta TINYINT(1),
  aprovado TINYINT(1), cancelado TINYINT(1), excluido_em DATETIME, alterado_em TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  UNIQUE (empresa, numero)) ENGINE=InnoDB CHARSET=latin1;
CREATE TABLE contrato_item (
  contrato_id INT NOT NULL, item SMALLINT NOT NULL, produto VARCHAR(20), local_entrega INT, quantidade DECIMAL(15,4), unidade CHAR(3), preco DECIMAL(15,6), preco_por CHAR(1),
  excluido TINYINT(1) NOT NULL, alterado_em TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (contrato_id, item)) ENGINE=InnoDB CHARSET=latin1;
CREATE TABLE fixacao (
  contrato_id INT NOT NULL, item SMALLINT NOT NULL, seq SMALLINT NOT NULL, data DATE, quantidade DECIMAL(15,4), preco DECIMAL(15,6), preco_por CHAR(1), vencimento DATE,
  cancelada TINYINT(1) NOT NULL, alterado_em TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (contrato_id, item, seq)) ENGINE=InnoDB CHARSET=latin1;
CREATE TABLE carga (id INT PRIMARY KEY, empresa SMALLINT NOT NULL, ticket INT NOT NULL, data DATE, fechada TINYINT(1), cancelada TINYINT(1), UNIQUE (empresa, ticket)) ENGINE=InnoDB CHARSET=latin1;
CREATE TABLE carga_item (
  carga_id INT NOT NULL, seq SMALLINT NOT NULL, contrato_id INT, item SMALLINT, propriedade INT, peso_liquido DECIMAL(15,3), PRIMARY KEY (carga_id, seq)) ENGINE=InnoDB CHARSET=latin1;
CREATE TABLE rateio (
  id BIGINT PRIMARY KEY, contrato_id INT, item SMALLINT, fixacao SMALLINT, produtor_id INT, usuario VARCHAR(20), propriedade INT, volume DECIMAL(15,3), unidade CHAR(3),
  excluido TINYINT(1)) ENGINE=InnoDB CHARSET=latin1;

INSERT INTO depara VALUES ('PRO', '1', '1A0B0C0D-0E0F-4ABC-8DEF-000000000001', 1);
INSERT INTO depara VALUES ('PRO', '2', '1A0B0C0D-0E0F-4ABC-8DEF-000000000002', 1);
INSERT INTO depara VALUES ('USR', 'ANA', '2A0B0C0D-0E0F-4ABC-8DEF-000000000001', 1);
INSERT INTO depara VALUES ('USR', 'LUIS', '2A0B0C0D-0E0F-4ABC-8DEF-000000000002', 1);
INSERT INTO depara VALUES ('CAR', '1-1', '3A0B0C0D-0E0F-4ABC-8DEF-000000000001', 1);
INSERT INTO depara VALUES ('CAR', '2-1', '3A0B0C0D-0E0F-4ABC-8DEF-000000000002', 1);
INSERT INTO depara VALUES ('LOC', '1-1', '4A0B0C0D-0E0F-4ABC-8DEF-000000000001', 1);
INSERT INTO depara VALUES ('LOC', '2-1', '4A0B0C0D-0E0F-4ABC-8DEF-000000000002', 1);
-- The platform does not know it.
INSERT INTO depara VALUES ('LOC', '1-9', '4A0B0C0D-0E0F-4ABC-8DEF-000000000009', 1);
-- Producer 3 is not yet on the platform; a code that is switched off counts as none.
INSERT INTO depara VALUES ('PRO', '3', NULL, 1);
INSERT INTO depara VALUES ('FAZ', '2', '5A0B0C0D-0E0F-4ABC-8DEF-000000000002', 0);
INSERT INTO depara VALUES ('FAZ', '1', '5A0B0C0D-0E0F-4ABC-8DEF-000000000001', 1);

INSERT INTO propriedade VALUES (1, 'FAZENDA BOA VISTA', 'PR-4106902-9065C3146E80A9C222670BBE4F4C5497');
INSERT INTO propriedade VALUES (2, 'SÍTIO SÃO JOSÉ', NULL);

-- Two lines: soy in sacks, and maize in kilograms with a price for a ton.
INSERT INTO contrato VALUES (100, 1, 100, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'BALCÃO', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (100, 1, 'SOJA EM GRÃOS', 1, 1234.56, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (100, 2, 'MILHO', 1, 60990.5, 'KG', 1066.7, 'T', 0, '2026-03-10 09:30:00');
-- To be fixed: zeros and zero dates for what is not agreed.
INSERT INTO contrato VALUES (101, 1, 101, 'A FIXAR', '25/26', 1, 'ANA', 1, '2026-03-10', '0000-00-00', '0000-00-00', '0000-00-00', 'R$', '', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (101, 1, 'SOJA EM GRÃOS', 1, 2000, 'SC', 0, 'S', 0, '2026-03-10 09:30:00');
-- In storage: no order before it is fixed.
INSERT INTO contrato VALUES (102, 1, 102, 'DEPÓSITO', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '0000-00-00', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (102, 1, 'SOJA EM GRÃOS', 1, 800, 'SC', 0, 'S', 0, '2026-03-10 09:30:00');
-- A sale.
INSERT INTO contrato VALUES (103, 1, 103, 'VENDA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (103, 1, 'SOJA EM GRÃOS', 1, 1003, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- Not approved.
INSERT INTO contrato VALUES (104, 1, 104, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 0, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (104, 1, 'SOJA EM GRÃOS', 1, 1004, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- Cancelled after it was sent.
INSERT INTO contrato VALUES (105, 1, 105, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (105, 1, 'SOJA EM GRÃOS', 1, 1005, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- Cancelled before anybody read it.
INSERT INTO contrato VALUES (106, 1, 106, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 1, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (106, 1, 'SOJA EM GRÃOS', 1, 1006, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- No date.
INSERT INTO contrato VALUES (107, 1, 107, 'COMPRA', '25/26', 1, 'ANA', 1, '0000-00-00', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (107, 1, 'SOJA EM GRÃOS', 1, 1007, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- No day of payment.
INSERT INTO contrato VALUES (108, 1, 108, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '0000-00-00', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (108, 1, 'SOJA EM GRÃOS', 1, 1008, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- The producer is not yet on the platform.
INSERT INTO contrato VALUES (109, 1, 109, 'COMPRA', '25/26', 3, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (109, 1, 'SOJA EM GRÃOS', 1, 1009, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- Beans.
INSERT INTO contrato VALUES (110, 1, 110, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (110, 1, 'FEIJÃO', 1, 1010, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- Its line is marked as deleted after it was sent. Wheat, by barter.
INSERT INTO contrato VALUES (111, 1, 111, 'COMPRA', 'TRIGO 26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 1, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (111, 1, 'TRIGO', 1, 1011, 'SC', 72.25, 'S', 0, '2026-03-10 09:30:00');
-- Deleted after it was sent: maize of another producer, so that nothing else is like it.
INSERT INTO contrato VALUES (112, 1, 112, 'COMPRA', '25/26', 2, 'ANA', 1, '2026-02-20', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (112, 1, 'MILHO', 1, 1012, 'SC', 61.50, 'S', 0, '2026-03-10 09:30:00');
-- A delivery place that the platform does not know.
INSERT INTO contrato VALUES (113, 1, 113, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (113, 1, 'SOJA EM GRÃOS', 9, 1013, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- Of last year.
INSERT INTO contrato VALUES (114, 1, 114, 'COMPRA', '25/26', 1, 'ANA', 1, '2025-11-15', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (114, 1, 'SOJA EM GRÃOS', 1, 1014, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- Less than nothing.
INSERT INTO contrato VALUES (116, 1, 116, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (116, 1, 'SOJA EM GRÃOS', 1, -50, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- A price for something that nobody has mapped.
INSERT INTO contrato VALUES (117, 1, 117, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (117, 1, 'SOJA EM GRÃOS', 1, 1017, 'SC', 131.50, '@', 0, '2026-03-10 09:30:00');
-- A word that was stored twice encoded.
INSERT INTO contrato VALUES (118, 1, 118, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'BALCÃƒO', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (118, 1, 'SOJA EM GRÃOS', 1, 1018, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');
-- For export, in dollars and tons.
INSERT INTO contrato VALUES (119, 1, 119, 'COMPRA', '25/26', 1, 'LUIS', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'US$', 'EXPORTAÇÃO', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (119, 1, 'SOJA EM GRÃOS', 1, 61.75, 'T', 402.3333, 'T', 0, '2026-03-10 09:30:00');
-- The same number in another branch, where place and wallet 1 are others.
INSERT INTO contrato VALUES (1100, 2, 100, 'COMPRA', '25/26', 1, 'ANA', 1, '2026-03-10', '2026-04-01', '2026-06-30', '2026-07-15', 'R$', 'DISPONÍVEL', 0, 1, 0, NULL, '2026-03-10 09:30:00');
INSERT INTO contrato_item VALUES (1100, 1, 'SOJA EM GRÃOS', 1, 500, 'SC', 131.50, 'S', 0, '2026-03-10 09:30:00');

-- Fixations: of a purchase, from storage, and of a sale.
INSERT INTO fixacao VALUES (101, 1, 1, '2026-05-05', 400, 132.10, 'S', '2026-08-05', 0, '2026-05-05 10:00:00');
INSERT INTO fixacao VALUES (102, 1, 1, '2026-05-05', 150.5, 129.90, 'S', '2026-08-05', 0, '2026-05-05 10:00:00');
INSERT INTO fixacao VALUES (103, 1, 1, '2026-05-05', 100, 130, 'S', '2026-08-05', 0, '2026-05-05 10:00:00');

INSERT INTO carga VALUES (501, 1, 501, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (502, 1, 502, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (503, 1, 503, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (504, 1, 504, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (505, 1, 505, '2026-05-12', 0, 0);
INSERT INTO carga VALUES (506, 1, 506, '0000-00-00', 1, 0);
INSERT INTO carga VALUES (507, 1, 507, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (508, 1, 508, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (509, 1, 509, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (510, 1, 510, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (511, 1, 511, '2026-05-12', 1, 0);
INSERT INTO carga VALUES (1501, 2, 501, '2026-05-12', 1, 0);

INSERT INTO carga_item VALUES (501, 1, 100, 1, 1, 38940.5);
-- One load for two contracts.
INSERT INTO carga_item VALUES (502, 1, 100, 1, 0, 20000);
INSERT INTO carga_item VALUES (502, 2, 101, 1, 0, 17500);
-- Its contract is invalid.
INSERT INTO carga_item VALUES (503, 1, 110, 1, 0, 30100);
-- No contract.
INSERT INTO carga_item VALUES (504, 1, NULL, 1, 0, 30200);
-- Not yet weighed out.
INSERT INTO carga_item VALUES (505, 1, 100, 1, 0, 0);
-- No date.
INSERT INTO carga_item VALUES (506, 1, 100, 1, 0, 30300);
-- A reversal.
INSERT INTO carga_item VALUES (507, 1, 100, 1, 0, -1200);
-- Its contract waits for the producer.
INSERT INTO carga_item VALUES (508, 1, 109, 1, 0, 30400);
-- Moved to another contract after it was sent.
INSERT INTO carga_item VALUES (509, 1, 100, 1, 0, 30500);
-- Cancelled after it was sent.
INSERT INTO carga_item VALUES (510, 1, 100, 1, 0, 30600);
-- Of a sale.
INSERT INTO carga_item VALUES (511, 1, 103, 1, 0, 30700);
-- The same number in another branch.
INSERT INTO carga_item VALUES (1501, 1, 1100, 1, 0, 29000);

-- A share with its farm.
INSERT INTO rateio VALUES (1, 100, 1, 0, 1, 'LUIS', 1, 600.1, 'SC', 0);
-- Without a volume.
INSERT INTO rateio VALUES (2, 100, 1, 0, 2, 'LUIS', 0, 0, '', 0);
-- Of a fixation.
INSERT INTO rateio VALUES (3, 101, 1, 1, 1, 'LUIS', 0, 400, 'SC', 0);
-- Its contract is invalid.
INSERT INTO rateio VALUES (4, 110, 1, 0, 1, 'LUIS', 0, 100, 'SC', 0);
-- A farm whose code is switched off.
INSERT INTO rateio VALUES (5, 100, 1, 0, 1, 'LUIS', 2, 10, 'SC', 0);
-- A volume without a unit.
INSERT INTO rateio VALUES (6, 100, 1, 0, 1, 'LUIS', 0, 20, '', 0);
-- Deleted before anybody read it.
INSERT INTO rateio VALUES (7, 100, 1, 0, 1, 'LUIS', 0, 30, 'SC', 1);
-- Deleted after it was sent.
INSERT INTO rateio VALUES (8, 100, 1, 0, 1, 'LUIS', 0, 5, 'SC', 0);
