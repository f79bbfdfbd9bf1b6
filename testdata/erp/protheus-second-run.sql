-- What happened in the ERP of protheus.sql overnight.
SET client_encoding TO 'UTF8';
SET search_path TO protheus;
-- An addition to a contract ("Adic./Supres."), and a contract that somebody finds finished; the second by a program that stamps nothing.
UPDATE njr010 SET njr_qtdctr = 1334.567, s_t_a_m_p_ = '2026-07-02 12:00:00' WHERE njr_filial = '0101' AND njr_codctr = '000101';
UPDATE njr010 SET njr_qtdctr = 1030.5 WHERE njr_codctr = '000128';
-- Deleted, and cancelled, after they were sent. A deleted row keeps its key and gets a number of its own in r_e_c_d_e_l_.
UPDATE njr010 SET d_e_l_e_t_ = '*', r_e_c_d_e_l_ = r_e_c_n_o_, s_t_a_m_p_ = '2026-07-02 12:01:00' WHERE njr_codctr = '000103';
UPDATE njr010 SET njr_status = 'C', s_t_a_m_p_ = '2026-07-02 12:02:00' WHERE njr_codctr = '000104';
-- Touched, and nothing that is sent changed.
UPDATE njr010 SET njr_obs = '', s_t_a_m_p_ = '2026-07-02 12:03:00' WHERE njr_codctr = '000105' AND d_e_l_e_t_ = ' ';
-- Cured: a date; a draft that is approved; an instalment that gets its date, of which the contract itself knows nothing.
UPDATE njr010 SET njr_data = '20260312', s_t_a_m_p_ = '2026-07-02 12:04:00' WHERE njr_codctr = '000109';
UPDATE njr010 SET njr_status = 'A', s_t_a_m_p_ = '2026-07-02 12:05:00' WHERE njr_codctr = '000125';
UPDATE nn7010 SET nn7_dtvenc = '20260901', s_t_a_m_p_ = '2026-07-02 12:06:00' WHERE nn7_codctr = '000113';
-- An earlier instalment of a contract that was sent.
INSERT INTO nn7010 SELECT nn7_filial, nn7_codctr, '002', '20260701', 10, '2026-07-02 12:07:00', ' ', 900, 0 FROM nn7010 WHERE nn7_codctr = '000120';
-- A late row: committed now, and stamped in January.
INSERT INTO njr010 SELECT njr_filial, '000130', njr_tipo, njr_tipfix, njr_codent, njr_lojent, njr_codsaf, njr_codpro, njr_um1pro, 1030, 1030, njr_vlrbas, njr_moeda, njr_data, njr_dtini, njr_dtfim,
  njr_modal, njr_forpag, njr_codloc, njr_xcart, njr_xuser, 'A', NULL, '2026-01-05 12:00:00', ' ', 901, 0 FROM njr010 WHERE njr_codctr = '000105' AND d_e_l_e_t_ = ' ';
INSERT INTO nn7010 VALUES ('0101', '000130', '001', '20260715', 10, '2026-01-05 12:00:00', ' ', 902, 0);
-- A fixation of which a part is cancelled, and a new one.
UPDATE nn8010 SET nn8_qtdcan = 100, s_t_a_m_p_ = '2026-07-02 12:08:00' WHERE nn8_codctr = '000102' AND nn8_itemfx = '001';
INSERT INTO nn8010 VALUES ('0101', '000102', '004', 275, 0, 133.05, 1, '20260701', '20261001', '2026-07-02 12:09:00', ' ', 903, 0);
-- The de-para of a producer for whom a contract, a delivery and a share wait.
INSERT INTO zpl010 VALUES ('', 'PRO', '00003101', '{1A0B0C0D-0E0F-4ABC-8DEF-00000000000A}', ' ', 904, 0);
-- Tickets: weighed out, moved to another contract, a line deleted.
UPDATE njj010 SET njj_status = '3' WHERE njj_codrom = '0000000207';
UPDATE njm010 SET njm_codctr = '000128' WHERE njm_codrom = '0000000212';
UPDATE njm010 SET d_e_l_e_t_ = '*', r_e_c_d_e_l_ = r_e_c_n_o_ WHERE njm_codrom = '0000000213';
-- Shares: deleted, and changed.
UPDATE zsh010 SET d_e_l_e_t_ = '*', r_e_c_d_e_l_ = r_e_c_n_o_ WHERE zsh_codctr = '000104' AND zsh_seq = '001';
UPDATE zsh010 SET zsh_qtd = 500.5 WHERE zsh_codctr = '000104' AND zsh_seq = '002';
-- An update of the ERP widens the number of a contract: each key has three blanks more, and is the same key.
ALTER TABLE njr010 ALTER COLUMN njr_codctr TYPE char(9);
ALTER TABLE nn7010 ALTER COLUMN nn7_codctr TYPE char(9);
ALTER TABLE nn8010 ALTER COLUMN nn8_codctr TYPE char(9);
ALTER TABLE njm010 ALTER COLUMN njm_codctr TYPE char(9);
ALTER TABLE zsh010 ALTER COLUMN zsh_codctr TYPE char(9);
