-- Rows as hosts and generator leave them, without chance: {of} says of which. The parameters
-- are when the run began in ms since the epoch, and the first and the last second.
WITH seconds AS (
    SELECT begin_ms + 1000 * second AS begin_ms, second
    FROM (SELECT ?::BIGINT AS begin_ms, unnest(range(?::BIGINT, ?::BIGINT)) AS second)
), generator_series AS (
    SELECT 'trafficgen' AS source, unnest(['rx-pps', 'tx-pps', 'lost-rx-pps', 'l1-rx-bps',
            'l1-tx-bps', 'l2-rx-bps', 'l2-tx-bps']) AS "type", 'throughput' AS class,
        'pps' AS unit, 'sum' AS aggregation, 13360000 AS top,
        MAP {{'port_pair': '0:1', 'rx_port': (1 - port)::VARCHAR, 'tx_port': port::VARCHAR}} AS names
    FROM range(2) AS ports(port)
), cpu_series AS (
    SELECT 'mpstat' AS source, CASE WHEN kind IN ('idle', 'iowait') THEN 'NonBusy-CPU'
            ELSE 'Busy-CPU' END AS "type", 'count' AS class, 'CPUs' AS unit, 'sum' AS aggregation,
        CASE WHEN (kind = 'usr') = (cpu IN (5, 9)) AND kind IN ('usr', 'idle') THEN 1.9 ELSE 0.1
        END AS top,
        MAP {{'core': cpu::VARCHAR, 'cstype': 'profiler', 'die': '0', 'hostname': 'node-1',
            'num': cpu::VARCHAR, 'package': (cpu // 20)::VARCHAR, 'thread': '0', 'type': kind}} AS names
    FROM range(40) AS cpus(cpu), (SELECT unnest(['usr', 'nice', 'sys', 'irq', 'soft', 'steal',
        'guest', 'idle', 'iowait']) AS kind)
), interrupt_series AS (
    SELECT 'procstat' AS source, 'interrupts-sec' AS "type", 'throughput' AS class, '1/s' AS unit,
        'sum' AS aggregation, 1000 AS top,
        MAP {{'cpu': (irq % 40)::VARCHAR, 'cstype': 'profiler', 'desc': 'i40e-TxRx-' || irq,
            'hostname': 'node-1', 'irq': irq::VARCHAR, 'type': 'PCI-MSI'}} AS names
    FROM range(200) AS interrupts(irq)
), host_series AS (
    FROM cpu_series UNION ALL FROM interrupt_series
), rows AS (
    SELECT *, to_json(names)::VARCHAR AS names_json,
        (top * (hash(names_json, second) % 997) / 997)::DOUBLE AS value
    FROM {of}_series, seconds
)
SELECT 'trial-0001' AS period, source, "type", class, unit, aggregation, names, begin_ms,
    begin_ms + 1000 AS end_ms, begin_ms + 1000 AS monotonic_ms,
    CASE WHEN top > 2 THEN round(value)::BIGINT END AS count,
    CASE WHEN top > 2 THEN round(value) ELSE value END AS value, names_json
FROM rows
