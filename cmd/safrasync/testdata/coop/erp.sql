CREATE TABLE contrato (
  filial TEXT, num TEXT, quantidade TEXT, produtor TEXT, loja TEXT, usuario TEXT, produto TEXT, local TEXT, safra TEXT, um TEXT, tipo TEXT,
  emissao TEXT, carteira TEXT, preco TEXT, inicio TEXT, fim TEXT, modalidade TEXT, pagto TEXT, forma TEXT, situacao TEXT);
INSERT INTO contrato VALUES
  -- two that can go
  ('01', '000001', '1500.50', 'P1', '01', 'U1', '001', 'L1', '2025/2026', 'SC', 'A_FIXAR', '20260310', '10', NULL, NULL, NULL, NULL, NULL, NULL, 'aprovado'),
  ('01', '000002', '200', 'P1', '01', 'U1', '002', 'L1', '2026/2026', 'SC', 'COMPRA', '20260311', '10', '1.129,50', '2026-04-01', '2026-05-31', 'BALCAO', '2026-06-15', 'DINHEIRO', 'aprovado'),
  -- a COMPRA without a payday
  ('01', '000003', '300', 'P1', '01', 'U1', '001', 'L1', '2025/2026', 'SC', 'COMPRA', '20260312', '10', '129,50', '2026-04-01', '2026-05-31', 'BALCAO', NULL, 'DINHEIRO', 'aprovado'),
  -- wallet 12 is in no de-para
  ('01', '000004', '400', 'P1', '01', 'U1', '001', 'L1', '2025/2026', 'SC', 'A_FIXAR', '20260313', '12', NULL, NULL, NULL, NULL, NULL, NULL, 'aprovado'),
  -- cancelled from the start, and a draft
  ('01', '000005', '500', 'P1', '01', 'U1', '001', 'L1', '2025/2026', 'SC', 'A_FIXAR', '20260314', '10', NULL, NULL, NULL, NULL, NULL, NULL, 'cancelado'),
  ('01', '000006', '600', 'P1', '01', 'U1', '001', 'L1', '2025/2026', 'SC', 'A_FIXAR', '20260315', '10', NULL, NULL, NULL, NULL, NULL, NULL, 'rascunho');
