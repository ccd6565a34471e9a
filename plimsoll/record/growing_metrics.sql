-- Rows of metrics out of the lines in which they grow (metric_log.py says what those are).
-- The one parameter is the list of files. A torn last line is left out.
WITH lines AS MATERIALIZED (
    FROM read_json(?, format='newline_delimited', columns={
            period: 'VARCHAR', wall_minus_monotonic_ns: 'BIGINT',
            series: 'STRUCT(number INTEGER, source VARCHAR, "type" VARCHAR, metric_class VARCHAR,
                unit VARCHAR, aggregation VARCHAR, counted BOOLEAN, carried BOOLEAN, scale DOUBLE,
                names MAP(VARCHAR, VARCHAR), since_ns BIGINT)[]',
            source: 'VARCHAR', begin_ns: 'BIGINT', end_ns: 'BIGINT',
            numbers: 'INTEGER[]', "values": 'DOUBLE[]'},
        ignore_errors=true, filename=true)
), heads AS (
    SELECT filename, period, wall_minus_monotonic_ns FROM lines WHERE period IS NOT NULL
), series AS MATERIALIZED (
    SELECT filename, unnest(each) FROM
        (SELECT filename, unnest(series) AS each FROM lines WHERE series IS NOT NULL)
), ends AS (
    SELECT filename, source, max(end_ns) AS last_ns FROM lines
    WHERE numbers IS NOT NULL GROUP BY ALL
), told AS (
    SELECT filename, begin_ns, end_ns, unnest(numbers) AS number, unnest("values") AS value
    FROM lines WHERE numbers IS NOT NULL
), at_once AS (
    SELECT filename, number, begin_ns, end_ns, value FROM told
    SEMI JOIN (FROM series WHERE NOT carried) USING (filename, number) WHERE value IS NOT NULL
), marks AS (
    SELECT filename, number, begin_ns, end_ns, value FROM told
    SEMI JOIN (FROM series WHERE carried) USING (filename, number)
    -- A counted series stands at 0 from when it was first read.
    UNION ALL SELECT filename, number, since_ns, since_ns, 0 FROM series
    WHERE carried AND counted AND since_ns IS NOT NULL
), spans AS (
    SELECT marks.*, series.counted, coalesce(
        lead(begin_ns) OVER (PARTITION BY marks.filename, marks.number ORDER BY begin_ns, end_ns),
        last_ns) AS until_ns
    FROM marks JOIN series USING (filename, number)
    JOIN ends ON ends.filename = series.filename AND ends.source = series.source
), carried AS (
    SELECT filename, number, begin_ns, until_ns AS end_ns, value FROM spans
    WHERE NOT counted AND value IS NOT NULL
    UNION ALL SELECT filename, number, begin_ns, end_ns, value FROM spans
    WHERE counted AND value IS NOT NULL AND end_ns > begin_ns
    UNION ALL SELECT filename, number, end_ns, until_ns, 0 FROM spans
    WHERE counted AND value IS NOT NULL AND until_ns > end_ns
)
SELECT period, source, "type", metric_class AS class, unit, aggregation, names,
    round(begin_ns / 1e6)::BIGINT AS begin_ms, round(end_ns / 1e6)::BIGINT AS end_ms,
    round((end_ns - wall_minus_monotonic_ns) / 1e6)::BIGINT AS monotonic_ms,
    CASE WHEN counted THEN value::BIGINT END AS count,
    CASE WHEN counted THEN value * scale * 1e9 / (end_ns - begin_ns) ELSE value END AS value
FROM (FROM at_once UNION ALL FROM carried)
JOIN series USING (filename, number) JOIN heads USING (filename)
