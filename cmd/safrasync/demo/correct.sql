-- What people at the cooperative do before the third run of `safrasync demo`.

-- A payday and a price are filled in, and a wallet gets its de-para: these contracts go by themselves, with what waits for them.
UPDATE contrato SET dt_pagto = '30/08/2026', alterado_em = '2026-10-01 09:00:00' WHERE filial = '01' AND numero = '001001';
UPDATE contrato SET preco = '65,30', alterado_em = '2026-10-01 09:00:00' WHERE filial = '04' AND numero = '001014';
INSERT INTO de_para (tipo, cod, uuid) VALUES ('carteira', 'C07', '83439f73-61e7-5f98-a7ba-1ad63d2e9d51');

-- A contract that was sent gets another price, and a delivery that was sent another contract: both are flagged, and not sent again.
UPDATE contrato SET preco = '1.131,60', alterado_em = '2026-10-01 09:00:00' WHERE filial = '02' AND numero = '001001';
UPDATE romaneio_item SET filial_contrato = '02', contrato = '001001' WHERE filial = '03' AND ticket = '50002';
UPDATE romaneio SET alterado_em = '2026-10-01 09:00:00' WHERE filial = '03' AND ticket = '50002';
