-- An imaginary ERP on PostgreSQL for tests, with the habits of a large Brazilian ERP of the client/server age: every text is CHAR and blank-padded, dates are
-- CHAR(8), nothing is NULL, 0 and blanks mean "nothing", numbers are binary floats, a deleted row stays with d_e_l_e_t_ = '*' beside a living one of the same
-- key, branches come first in every key. Original schema and synthetic data (no real person, company or property). docs/examples/protheus.yaml reads it.
SET client_encoding TO 'UTF8';
DROP SCHEMA IF EXISTS protheus CASCADE;
CREATE SCHEMA protheus;
SET search_path TO protheus;

-- Entities: who sells the grain. The number has a store (loja), as a producer may have several registrations.
CREATE TABLE nj0010 (
  nj0_filial char(4) NOT NULL DEFAULT '', nj0_codent char(6) NOT NULL, nj0_lojent char(2) NOT NULL, nj0_nome char(40) NOT NULL DEFAULT '',
  d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (nj0_filial, nj0_codent, nj0_lojent, r_e_c_d_e_l_));

-- Contracts of all kinds: njr_tipo 1 purchase, 2 sale, 3 storage. njr_tipfix 1 fixed price, 2 to be fixed. njr_moeda 1 real, 2 dollar.
-- njr_status P draft, A open, F finished, C cancelled. njr_qtdctr is what is agreed now, after additions and reductions; njr_qtdini what was signed.
CREATE TABLE njr010 (
  njr_filial char(4) NOT NULL, njr_codctr char(6) NOT NULL, njr_tipo char(1) NOT NULL, njr_tipfix char(1) NOT NULL DEFAULT '',
  njr_codent char(6) NOT NULL DEFAULT '', njr_lojent char(2) NOT NULL DEFAULT '', njr_codsaf char(10) NOT NULL DEFAULT '', njr_codpro char(15) NOT NULL DEFAULT '',
  njr_um1pro char(2) NOT NULL DEFAULT '', njr_qtdini double precision NOT NULL DEFAULT 0, njr_qtdctr double precision NOT NULL DEFAULT 0,
  njr_vlrbas double precision NOT NULL DEFAULT 0, njr_moeda double precision NOT NULL DEFAULT 0, njr_data char(8) NOT NULL DEFAULT '',
  njr_dtini char(8) NOT NULL DEFAULT '', njr_dtfim char(8) NOT NULL DEFAULT '', njr_modal char(1) NOT NULL DEFAULT '', njr_forpag char(1) NOT NULL DEFAULT '',
  njr_codloc char(2) NOT NULL DEFAULT '', njr_xcart char(2) NOT NULL DEFAULT '', njr_xuser char(6) NOT NULL DEFAULT '', njr_status char(1) NOT NULL DEFAULT '',
  njr_obs bytea, s_t_a_m_p_ timestamp, -- UTC, and NULL where nobody has changed the row since somebody switched it on
  d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (njr_filial, njr_codctr, r_e_c_d_e_l_));

-- Instalments of a contract.
CREATE TABLE nn7010 (
  nn7_filial char(4) NOT NULL, nn7_codctr char(6) NOT NULL, nn7_item char(3) NOT NULL, nn7_dtvenc char(8) NOT NULL DEFAULT '', nn7_valor double precision NOT NULL DEFAULT 0,
  s_t_a_m_p_ timestamp, d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (nn7_filial, nn7_codctr, nn7_item, r_e_c_d_e_l_));

-- Fixations: the price of a part of a contract. nn8_qtdcan is what was cancelled of it.
CREATE TABLE nn8010 (
  nn8_filial char(4) NOT NULL, nn8_codctr char(6) NOT NULL, nn8_itemfx char(3) NOT NULL, nn8_qtdfix double precision NOT NULL DEFAULT 0,
  nn8_qtdcan double precision NOT NULL DEFAULT 0, nn8_valuni double precision NOT NULL DEFAULT 0, nn8_moeda double precision NOT NULL DEFAULT 0,
  nn8_data char(8) NOT NULL DEFAULT '', nn8_dtvenc char(8) NOT NULL DEFAULT '',
  s_t_a_m_p_ timestamp, d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (nn8_filial, nn8_codctr, nn8_itemfx, r_e_c_d_e_l_));

-- Farms with their CAR.
CREATE TABLE nn2010 (
  nn2_filial char(4) NOT NULL DEFAULT '', nn2_codigo char(6) NOT NULL, nn2_nome char(30) NOT NULL DEFAULT '', nn2_car char(60) NOT NULL DEFAULT '',
  d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (nn2_filial, nn2_codigo, r_e_c_d_e_l_));

-- Weighing tickets: the header, and one line for each contract that a load is for. njj_status 1 open, 3 confirmed, 4 cancelled. Weights in njm_um1pro.
CREATE TABLE njj010 (
  njj_filial char(4) NOT NULL, njj_codrom char(10) NOT NULL, njj_status char(1) NOT NULL, njj_data char(8) NOT NULL DEFAULT '', njj_placa char(8) NOT NULL DEFAULT '',
  d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (njj_filial, njj_codrom, r_e_c_d_e_l_));
CREATE TABLE njm010 (
  njm_filial char(4) NOT NULL, njm_codrom char(10) NOT NULL, njm_iterom char(2) NOT NULL, njm_codctr char(6) NOT NULL DEFAULT '', njm_fazen char(6) NOT NULL DEFAULT '',
  njm_qtdfis double precision NOT NULL DEFAULT 0, njm_qtddes double precision NOT NULL DEFAULT 0, njm_um1pro char(2) NOT NULL DEFAULT '',
  d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (njm_filial, njm_codrom, njm_iterom, r_e_c_d_e_l_));

-- The site's own table: whose grain a contract, or a fixation of it, is made of.
CREATE TABLE zsh010 (
  zsh_filial char(4) NOT NULL, zsh_codctr char(6) NOT NULL, zsh_itemfx char(3) NOT NULL DEFAULT '', zsh_seq char(3) NOT NULL, zsh_codent char(6) NOT NULL,
  zsh_lojent char(2) NOT NULL, zsh_user char(6) NOT NULL, zsh_fazen char(6) NOT NULL DEFAULT '', zsh_qtd double precision NOT NULL DEFAULT 0, zsh_um char(2) NOT NULL DEFAULT '',
  d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (zsh_filial, zsh_codctr, zsh_itemfx, zsh_seq, r_e_c_d_e_l_));

-- The site's own de-para: PRO producers by code and store in one text, USR users, CAR wallets, LOC delivery places, FAZ farms.
CREATE TABLE zpl010 (
  zpl_filial char(4) NOT NULL DEFAULT '', zpl_tipo char(3) NOT NULL, zpl_codigo char(20) NOT NULL, zpl_uuid char(38) NOT NULL DEFAULT '',
  d_e_l_e_t_ char(1) NOT NULL DEFAULT ' ', r_e_c_n_o_ bigint PRIMARY KEY, r_e_c_d_e_l_ bigint NOT NULL DEFAULT 0,
  UNIQUE (zpl_filial, zpl_tipo, zpl_codigo, r_e_c_d_e_l_));

INSERT INTO nj0010 (nj0_codent, nj0_lojent, nj0_nome, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('000013', '01', 'JOSÉ ANTÔNIO CONCEIÇÃO', ' ', 1, 0),
('000013', '02', 'JOSÉ ANTÔNIO CONCEIÇÃO (IPÊ)', ' ', 2, 0),
('000027', '01', 'MARIA APARECIDA GONÇALVES', ' ', 3, 0),
('COOP', '01', 'COOPERADOS DIVERSOS', ' ', 4, 0), -- a short code: its blanks count in the de-para
('000031', '01', 'JOÃO BATISTA SÃO PEDRO', ' ', 5, 0),
('000040', '01', 'ANTÔNIA ARAÚJO SIMÕES', ' ', 6, 0),
('000050', '01', 'CADASTRO EXCLUÍDO', '*', 7, 7);

INSERT INTO zpl010 (zpl_filial, zpl_tipo, zpl_codigo, zpl_uuid, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('', 'PRO', '00001301', '{1A0B0C0D-0E0F-4ABC-8DEF-000000000001}', ' ', 1, 0),
('', 'PRO', '00001302', '1a0b0c0d-0e0f-4abc-8def-000000000002', ' ', 2, 0),
('', 'PRO', '00002701', '{1a0b0c0d-0e0f-4abc-8def-000000000003}', ' ', 3, 0),
('', 'PRO', 'COOP  01', '1A0B0C0D-0E0F-4ABC-8DEF-000000000004', ' ', 4, 0),
('', 'PRO', '00004001', '1a0b0c0d-0e0f-4abc-8def-000000000099', '*', 5, 5), -- the id of another producer, corrected: the living twin counts
('', 'PRO', '00004001', '1a0b0c0d-0e0f-4abc-8def-000000000005', ' ', 6, 0),
('', 'PRO', '00005001', '1a0b0c0d-0e0f-4abc-8def-000000000006', ' ', 7, 0), -- of an entity that is deleted
('', 'USR', '000101', '2a0b0c0d-0e0f-4abc-8def-000000000001', ' ', 8, 0),
('', 'USR', '000102', '2a0b0c0d-0e0f-4abc-8def-000000000002', ' ', 9, 0),
('0101', 'CAR', 'C1', '3a0b0c0d-0e0f-4abc-8def-000000000001', ' ', 10, 0),
('0102', 'CAR', 'C1', '3a0b0c0d-0e0f-4abc-8def-000000000002', ' ', 11, 0),
('0101', 'CAR', 'C3', '3a0b0c0d-0e0f-4abc-8def-000000000003', ' ', 12, 0), -- not linked to producer 000013/02
('0101', 'LOC', 'A1', '4a0b0c0d-0e0f-4abc-8def-000000000001', ' ', 13, 0),
('0102', 'LOC', 'A1', '4a0b0c0d-0e0f-4abc-8def-000000000002', ' ', 14, 0),
('0101', 'LOC', 'A9', '4a0b0c0d-0e0f-4abc-8def-000000000009', ' ', 15, 0), -- the platform does not know it
('', 'FAZ', '000001', '5a0b0c0d-0e0f-4abc-8def-000000000001', ' ', 16, 0),
('', 'FAZ', '000002', '5a0b0c0d-0e0f-4abc-8def-000000000002', ' ', 17, 0);

INSERT INTO nn2010 (nn2_codigo, nn2_nome, nn2_car, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('000001', 'FAZENDA BOA VISTA', 'PR-4106902-0000000000000000000000000000DEAD', '*', 1, 1), -- a deleted twin: a join without the filter doubles the ticket
('000001', 'FAZENDA BOA VISTA', 'PR-4106902-9065.C314.6E80.A9C2.2267.0BBE.4F4C.5497', ' ', 2, 0),
('000002', 'FAZENDA SANTA FÉ', 'MT123456/2018', ' ', 3, 0),
('000003', 'FAZENDA SEM DE-PARA', 'PR-4113700-656CF2D133187C8DF95247F2866028DE', ' ', 4, 0);

INSERT INTO njr010 (njr_filial, njr_codctr, njr_tipo, njr_tipfix, njr_codent, njr_lojent, njr_codsaf, njr_codpro, njr_um1pro, njr_qtdini, njr_qtdctr, njr_vlrbas, njr_moeda, njr_data, njr_dtini, njr_dtfim, njr_modal, njr_forpag, njr_codloc, njr_xcart, njr_xuser, njr_status, s_t_a_m_p_, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('0101', '000101', '1', '1', '000013', '01', '2526', '000001', 'SC', 1134.567, 1234.5670000000002, 131.50000000000003, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 1, 0), -- noise of binary floats; five instalments, of which one is deleted and two have no date
('0101', '000102', '1', '2', '000013', '01', '2526', '000001', 'SC', 2000, 2000, 0, 1, '20260310', '', '', '', '', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 2, 0), -- to be fixed: no price, no dates; its fixations stand in nn8010
('0101', '000103', '1', '1', '000013', '01', '2526', '000001', 'SC', 1003, 1003, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 3, 0), -- soft-deleted after it was sent
('0101', '000104', '1', '1', '000013', '01', '2526', '000001', 'SC', 1004, 1004, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 4, 0), -- cancelled after it was sent
('0101', '000105', '1', '1', '000027', '01', '2526', '000001', 'SC', 1, 1, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', '*', 5, 5), -- deleted and typed again under the same number
('0101', '000105', '1', '1', '000013', '01', '2526', '000001', 'SC', 1005, 1005, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 6, 0), -- the living twin
('0101', '000106', '1', '1', '000013', '01', '2526', '000001', 'SC', 1006, 1006, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', '*', 7, 7), -- deleted before anybody read it
('0101', '000107', '2', '1', '000013', '01', '2526', '000001', 'SC', 1007, 1007, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 8, 0), -- a sale
('0101', '000108', '3', '2', '000013', '01', '2526', '000001', 'SC', 1008, 1008, 0, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 9, 0), -- storage: the grain is still the producer's
('0101', '000109', '1', '1', '000013', '01', '2526', '000001', 'SC', 1009, 1009, 131.5, 1, '00000000', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 10, 0), -- no date
('0101', '000110', '1', '1', '000013', '01', '2526', '000001', 'SC', 1010, 1010, 131.5, 1, '', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 11, 0), -- no date either
('0101', '000111', '1', '1', '000013', '01', '2526', '000001', 'SC', 1011, 1011, 131.5, 1, '20260231', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 12, 0), -- a day that does not exist
('0101', '000112', '1', '1', '000013', '01', '2526', '000001', 'SC', 1012, 1012, 0, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 13, 0), -- 0 is no price
('0101', '000113', '1', '1', '000013', '01', '2526', '000001', 'SC', 1013, 1013, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 14, 0), -- an instalment without a date
('0101', '000114', '1', '1', '000013', '01', '2526', '000009', 'SC', 1014, 1014, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 15, 0), -- beans
('0101', '000115', '1', '1', '000013', '01', '2526', '000101', 'SC', 1015, 1015, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 16, 0), -- another code for soy
('0101', '000116', '1', '1', '000013', '01', 'TRIGO26', '000003', 'KG', 60990.5, 60990.5, 1.2, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 17, 0), -- wheat is called by one year
('0101', '000117', '1', '1', '000013', '01', '99', '000001', 'SC', 1017, 1017, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 18, 0), -- a harvest that nobody has mapped
('0101', '000118', '1', '1', '000031', '01', '2526', '000001', 'SC', 1018, 1018, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 19, 0), -- a producer without de-para
('0101', '000119', '1', '1', 'COOP', '01', '2526', '000001', 'SC', 1019, 1019, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 20, 0), -- a producer with a short code
('0101', '000120', '1', '1', '000040', '01', '2526', '000001', 'SC', 1020, 1020, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 21, 0), -- a producer whose de-para has a deleted twin
('0101', '000121', '1', '1', '000050', '01', '2526', '000001', 'SC', 1021, 1021, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 22, 0), -- a producer who is deleted
('0101', '000122', '1', '1', '000013', '02', '2526', '000001', 'SC', 1022, 1022, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C3', '000101', 'A', '2026-03-10 12:30:00', ' ', 23, 0), -- the wallet is not linked to the producer
('0101', '000123', '1', '1', '000013', '01', '2526', '000001', 'SC', 1023, 1023, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A9', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 24, 0), -- the platform does not know the place
('0101', '000124', '1', '2', '000013', '01', '2526', '000001', 'SC', 3000, 3000, 0, 1, '20251115', '', '', '', '', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 25, 0), -- of last year, to be fixed
('0101', '000125', '1', '1', '000013', '01', '2526', '000001', 'SC', 1025, 1025, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'P', '2026-03-10 12:30:00', ' ', 26, 0), -- a draft
('0101', '000126', '1', '1', '000013', '01', '2526', '000001', 'SC', -50, -50, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 27, 0), -- less than nothing
('0101', '000127', '1', '1', '000013', '01', '2526', '000001', 'BG', 1027, 1027, 131.5, 1, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 28, 0), -- a unit that nobody has mapped
('0101', '000128', '1', '1', '000013', '01', '2526', '000001', 'TL', 1028.25, 1028.25, 2191.67, 1, '20260310', '20260401', '20260630', 'D', 'T', 'A1', 'C1', '000101', 'F', NULL, ' ', 29, 0), -- finished, in tonnes, by barter, and never stamped
('0101', '000129', '1', '1', '000013', '01', '2526', '000001', 'SC', 1029, 1029, 131.5, 1, '20260310', '20260630', '20260401', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 30, 0), -- delivery ends before it begins
('0101', '000131', '1', '1', '000013', '01', '2526', '000001', 'SC', 1031, 1031, 131.5, 9, '20260310', '20260401', '20260630', 'D', 'D', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 31, 0), -- a currency that nobody has mapped
('0101', '000132', '1', '2', '000013', '01', '2526', '000001', 'SC', 10, 10, 0, 1, '20260310', '', '', '', '', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', '*', 32, 32), -- to be fixed; deleted and typed again
('0101', '000132', '1', '2', '000013', '01', '2526', '000001', 'SC', 1032, 1032, 0, 1, '20260310', '', '', '', '', 'A1', 'C1', '000101', 'A', '2026-03-10 12:30:00', ' ', 33, 0), -- the living twin
('0102', '000101', '1', '1', '000013', '01', '2526', '000001', 'SC', 500, 500, 24.1, 2, '20260310', '20260401', '20260630', 'E', 'D', 'A1', 'C1', '000102', 'A', NULL, ' ', 34, 0); -- the same number in another branch, with its own wallet and place

UPDATE njr010 SET njr_obs = convert_to('observação de muitas páginas', 'LATIN1');

INSERT INTO nn7010 (nn7_filial, nn7_codctr, nn7_item, nn7_dtvenc, nn7_valor, s_t_a_m_p_, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('0101', '000101', '001', '20260815', 1000, NULL, ' ', 1, 0),
('0101', '000101', '002', '20260715', 1000, NULL, ' ', 2, 0),
('0101', '000101', '003', '20260615', 1000, NULL, '*', 3, 3),
('0101', '000101', '004', '', 1000, NULL, ' ', 4, 0),
('0101', '000101', '005', '00000000', 1000, NULL, ' ', 5, 0),
('0101', '000103', '001', '20260715', 1000, NULL, ' ', 6, 0),
('0101', '000104', '001', '20260715', 1000, NULL, ' ', 7, 0),
('0101', '000105', '001', '20260715', 1000, NULL, ' ', 8, 0),
('0101', '000107', '001', '20260715', 1000, NULL, ' ', 9, 0),
('0101', '000109', '001', '20260715', 1000, NULL, ' ', 10, 0),
('0101', '000110', '001', '20260715', 1000, NULL, ' ', 11, 0),
('0101', '000111', '001', '20260715', 1000, NULL, ' ', 12, 0),
('0101', '000112', '001', '20260715', 1000, NULL, ' ', 13, 0),
('0101', '000113', '001', '00000000', 1000, NULL, ' ', 14, 0),
('0101', '000114', '001', '20260715', 1000, NULL, ' ', 15, 0),
('0101', '000115', '001', '20260715', 1000, NULL, ' ', 16, 0),
('0101', '000116', '001', '20260715', 1000, NULL, ' ', 17, 0),
('0101', '000117', '001', '20260715', 1000, NULL, ' ', 18, 0),
('0101', '000118', '001', '20260715', 1000, NULL, ' ', 19, 0),
('0101', '000119', '001', '20260715', 1000, NULL, ' ', 20, 0),
('0101', '000120', '001', '20260715', 1000, NULL, ' ', 21, 0),
('0101', '000121', '001', '20260715', 1000, NULL, ' ', 22, 0),
('0101', '000122', '001', '20260715', 1000, NULL, ' ', 23, 0),
('0101', '000123', '001', '20260715', 1000, NULL, ' ', 24, 0),
('0101', '000125', '001', '20260715', 1000, NULL, ' ', 25, 0),
('0101', '000126', '001', '20260715', 1000, NULL, ' ', 26, 0),
('0101', '000127', '001', '20260715', 1000, NULL, ' ', 27, 0),
('0101', '000128', '001', '20260715', 1000, NULL, ' ', 28, 0),
('0101', '000129', '001', '20260715', 1000, NULL, ' ', 29, 0),
('0101', '000131', '001', '20260715', 1000, NULL, ' ', 30, 0),
('0102', '000101', '001', '20260715', 1000, NULL, ' ', 31, 0);

INSERT INTO nn8010 (nn8_filial, nn8_codctr, nn8_itemfx, nn8_qtdfix, nn8_qtdcan, nn8_valuni, nn8_moeda, nn8_data, nn8_dtvenc, s_t_a_m_p_, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('0101', '000102', '001', 400, 0, 132.1, 1, '20260505', '20260805', '2026-05-05 13:00:00', ' ', 1, 0),
('0101', '000102', '002', 300, 0, 132.4, 1, '00000000', '20260805', '2026-05-05 13:00:00', ' ', 2, 0), -- no date
('0101', '000102', '003', 250, 0, 132.4, 1, '20260505', '20260805', '2026-05-05 13:00:00', '*', 3, 3), -- deleted before anybody read it
('0101', '000108', '001', 150.5, 0, 129.9, 1, '20260505', '', '2026-05-05 13:00:00', ' ', 4, 0), -- from storage
('0101', '000107', '001', 90, 0, 140, 1, '20260505', '20260805', '2026-05-05 13:00:00', ' ', 5, 0), -- of a sale
('0101', '000124', '001', 350, 0, 130.2, 1, '20260505', '20260805', '2026-05-05 13:00:00', ' ', 6, 0), -- of this year, of a contract of last year
('0101', '000132', '001', 132, 0, 131.7, 1, '20260505', '20260805', '2026-05-05 13:00:00', ' ', 7, 0); -- of a contract with a deleted twin: a join without the filter doubles it

INSERT INTO njj010 (njj_filial, njj_codrom, njj_status, njj_data, njj_placa, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('0101', '0000000201', '3', '20260512', 'AAA0A01', ' ', 1, 0),
('0101', '0000000202', '3', '20260512', 'AAA0A02', ' ', 2, 0),
('0101', '0000000203', '3', '20260512', 'AAA0A03', ' ', 3, 0),
('0101', '0000000204', '3', '20260512', 'AAA0A04', ' ', 4, 0),
('0101', '0000000205', '3', '20260512', 'AAA0A05', ' ', 5, 0),
('0101', '0000000206', '3', '20260512', 'AAA0A06', ' ', 6, 0),
('0101', '0000000207', '1', '20260512', 'AAA0A07', ' ', 7, 0),
('0101', '0000000208', '3', '20260512', 'AAA0A08', ' ', 8, 0),
('0101', '0000000209', '3', '20260512', 'AAA0A09', '*', 9, 9),
('0101', '0000000210', '3', '20260512', 'AAA0A10', ' ', 10, 0),
('0101', '0000000211', '3', '20260512', 'AAA0A11', ' ', 11, 0),
('0101', '0000000212', '3', '20260512', 'AAA0A12', ' ', 12, 0),
('0101', '0000000213', '3', '20260512', 'AAA0A13', ' ', 13, 0),
('0101', '0000000214', '3', '20260512', 'AAA0A14', ' ', 14, 0),
('0101', '0000000215', '3', '00000000', 'AAA0A15', ' ', 15, 0),
('0101', '0000000216', '3', '20260512', 'AAA0A16', ' ', 16, 0),
('0101', '0000000217', '3', '20260512', 'AAA0A17', ' ', 17, 0),
('0101', '0000000218', '3', '20260512', 'AAA0A18', ' ', 18, 0),
('0102', '0000000201', '3', '20260512', 'AAA0A19', ' ', 19, 0);

INSERT INTO njm010 (njm_filial, njm_codrom, njm_iterom, njm_codctr, njm_fazen, njm_qtdfis, njm_qtddes, njm_um1pro, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('0101', '0000000201', '01', '000101', '000001', 38940.1, 412.3, 'KG', ' ', 1, 0), -- net after discounts, in binary floats; the CAR with dots
('0101', '0000000202', '01', '000101', '', 20000, 150, 'KG', ' ', 2, 0),
('0101', '0000000202', '02', '000102', '', 17500, 0, 'KG', ' ', 3, 0), -- one load for two contracts
('0101', '0000000203', '01', '000114', '', 30100, 0, 'KG', ' ', 4, 0), -- its contract is invalid
('0101', '0000000204', '01', '000107', '', 30200, 0, 'KG', ' ', 5, 0), -- of a sale
('0101', '0000000205', '01', '', '', 30300, 0, 'KG', ' ', 6, 0), -- of no contract
('0101', '0000000206', '01', '000108', '', 30400, 0, 'KG', ' ', 7, 0), -- for storage
('0101', '0000000207', '01', '000101', '', 30500, 0, 'KG', ' ', 8, 0), -- not yet weighed out
('0101', '0000000208', '01', '000101', '', 30600, 0, 'KG', '*', 9, 9), -- a deleted line
('0101', '0000000208', '02', '000101', '', 30650, 0, 'KG', ' ', 10, 0),
('0101', '0000000209', '01', '000101', '', 30700, 0, 'KG', ' ', 11, 0), -- the header is deleted
('0101', '0000000210', '01', '000101', '', -1200, 0, 'KG', ' ', 12, 0), -- a reversal
('0101', '0000000211', '01', '000118', '', 30800, 0, 'KG', ' ', 13, 0), -- its contract waits for the producer
('0101', '0000000212', '01', '000101', '', 30900, 0, 'KG', ' ', 14, 0), -- moved to another contract after it was sent
('0101', '0000000213', '01', '000101', '', 31000, 0, 'KG', ' ', 15, 0), -- deleted after it was sent
('0101', '0000000214', '01', '000128', '', 31.249999999999996, 0, 'TL', ' ', 16, 0),
('0101', '0000000215', '01', '000101', '', 31100, 0, 'KG', ' ', 17, 0), -- no date
('0101', '0000000216', '01', '000101', '000002', 31200, 0, 'KG', ' ', 18, 0), -- a number of the state's own register in place of the CAR
('0101', '0000000217', '01', '000124', '', 31300, 0, 'KG', ' ', 19, 0), -- its contract is of last year
('0101', '0000000218', '01', '000105', '', 31400, 0, 'KG', ' ', 20, 0), -- of a contract with a deleted twin
('0102', '0000000201', '01', '000101', '', 29000, 0, 'KG', ' ', 21, 0); -- the same number in another branch

INSERT INTO zsh010 (zsh_filial, zsh_codctr, zsh_itemfx, zsh_seq, zsh_codent, zsh_lojent, zsh_user, zsh_fazen, zsh_qtd, zsh_um, d_e_l_e_t_, r_e_c_n_o_, r_e_c_d_e_l_) VALUES
('0101', '000101', '', '001', '000013', '01', '000102', '000001', 600.1, 'SC', ' ', 1, 0),
('0101', '000101', '', '002', '000013', '02', '000102', '', 0, '', ' ', 2, 0), -- a share without a volume
('0101', '000102', '001', '001', '000027', '01', '000102', '', 400, 'SC', ' ', 3, 0), -- of a fixation
('0101', '000114', '', '001', '000013', '01', '000102', '', 100, 'SC', ' ', 4, 0), -- its contract is invalid
('0101', '000101', '', '003', '000027', '01', '000102', '000003', 10, 'SC', ' ', 5, 0), -- a farm without de-para
('0101', '000101', '', '004', '000027', '01', '000102', '', 20, '', ' ', 6, 0), -- a volume without a unit
('0101', '000101', '', '005', '000027', '01', '000102', '', 30, 'SC', '*', 7, 7), -- deleted before anybody read it
('0101', '000104', '', '001', '000013', '01', '000102', '', 500, 'SC', ' ', 8, 0), -- deleted after it was sent
('0101', '000104', '', '002', '000013', '02', '000102', '', 504, 'SC', ' ', 9, 0), -- changed after it was sent
('0101', '000118', '', '001', '000031', '01', '000102', '', 61080, 'KG', ' ', 10, 0); -- waits for producer and contract
