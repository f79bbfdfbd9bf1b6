-- What happened in the ERP of cereal-mariadb.sql overnight. Loaded as that file is.
SET time_zone = '-03:00';
-- Changed in a line only, cancelled, marked as deleted, and deleted after they were sent.
UPDATE contrato_item SET quantidade = 1334.56, alterado_em = '2026-07-02 09:00:00' WHERE contrato_id = 100 AND item = 1;
UPDATE contrato SET cancelado = 1, alterado_em = '2026-07-02 09:01:00' WHERE id = 105;
UPDATE contrato_item SET excluido = 1, alterado_em = '2026-07-02 09:02:00' WHERE contrato_id = 111;
DELETE FROM contrato_item WHERE contrato_id = 112;
DELETE FROM contrato WHERE id = 112;
-- Approved; cured; a late row with an old stamp; touched only.
UPDATE contrato SET aprovado = 1, alterado_em = '2026-07-02 09:03:00' WHERE id = 104;
UPDATE contrato SET pagamento = '2026-07-20', alterado_em = '2026-07-02 09:04:00' WHERE id = 108;
INSERT INTO contrato SELECT 115, empresa, 115, tipo, safra, produtor_id, usuario, carteira, data, entrega_ini, entrega_fim, pagamento, moeda, modalidade, permuta, 1, 0, NULL,
  '2026-01-05 09:00:00' FROM contrato WHERE id = 105;
INSERT INTO contrato_item SELECT 115, item, produto, local_entrega, 1015, unidade, preco, preco_por, 0, '2026-01-05 09:00:00' FROM contrato_item WHERE contrato_id = 105;
UPDATE contrato SET alterado_em = '2026-07-02 09:05:00' WHERE id = 119;
-- The id of a producer for whom a contract and a delivery wait.
UPDATE depara SET uuid = '1a0b0c0d-0e0f-4abc-8def-000000000003' WHERE tipo = 'PRO' AND codigo = '3';
-- Loads: weighed out, moved, cancelled.
UPDATE carga SET fechada = 1 WHERE id = 505;
UPDATE carga_item SET peso_liquido = 29500 WHERE carga_id = 505;
UPDATE carga_item SET contrato_id = 101 WHERE carga_id = 509;
UPDATE carga SET cancelada = 1 WHERE id = 510;
UPDATE rateio SET excluido = 1 WHERE id = 8;
