-- Rows of metrics out of the lines in which they grow (metric_log.py says what those are).
-- The one parameter is the list of files. A torn last line is left out.
WITH lines AS MATERIALIZED (
    FROM read_json(?, format='newline_delimited', columns={
            period: 'VARCHAR', wall_minus_monotonic_ns: 'BIGINT', names: 'MAP(VARCHAR, VARCHAR)',
            types: 'STRUCT(kind INTEGER, reader VARCHAR, source VARCHAR, "type" VARCHAR,
                metric_class VARCHAR, unit VARCHAR, aggregation VARCHAR, counted BOOLEAN,
                carried BOOLEAN, scale DOUBLE)[]',
            series: 'STRUCT(number INTEGER, kind INTEGER, names MAP(VARCHAR, VARCHAR),
                since_ns BIGINT, continued BOOLEAN)[]',
            reader: 'VARCHAR', begin_ns: 'BIGINT', end_ns: 'BIGINT',
            numbers: 'INTEGER[]', "values": 'DOUBLE[]'},
        ignore_errors=true, filename=true, hive_partitioning=false)
), heads AS (
    SELECT filename, period, wall_minus_monotonic_ns, names AS common_names FROM lines
    WHERE period IS NOT NULL
), types AS (
    SELECT filename, unnest(each) FROM
        (SELECT filename, unnest(types) AS each FROM lines WHERE types IS NOT NULL)
), kept_series AS (
    SELECT filename, unnest(each) FROM
        (SELECT filename, unnest(series) AS each FROM lines WHERE series IS NOT NULL)
), series AS MATERIALIZED (
    SELECT *, to_json(map_from_entries(list_sort(map_entries(names))))::VARCHAR AS names_json
    FROM (SELECT * REPLACE (map_concat(common_names, names) AS names)
        FROM kept_series JOIN types USING (filename, kind) JOIN heads USING (filename))
), ticks AS (
    SELECT filename, reader, begin_ns, end_ns,
        coalesce(begin_ns > max(end_ns) OVER (
            PARTITION BY filename, reader ORDER BY begin_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true) AS begins_anew
    FROM lines WHERE numbers IS NOT NULL
), watched AS (
    -- The stretches of time over which a reader read without a gap.
    SELECT filename, reader, stretch, min(begin_ns) AS from_ns, max(end_ns) AS to_ns FROM (
        SELECT *, count(*) FILTER (begins_anew) OVER (
            PARTITION BY filename, reader ORDER BY begin_ns, end_ns) AS stretch FROM ticks)
    GROUP BY filename, reader, stretch
), kept AS (
    SELECT filename, begin_ns, end_ns, unnest(numbers) AS number, unnest("values") AS value
    FROM lines WHERE numbers IS NOT NULL
), at_once AS (
    SELECT filename, number, begin_ns, end_ns, value FROM kept
    SEMI JOIN (FROM series WHERE NOT carried) USING (filename, number) WHERE value IS NOT NULL
), marks AS (
    SELECT filename, number, begin_ns, end_ns, value FROM kept
    SEMI JOIN (FROM series WHERE carried) USING (filename, number)
    -- A counted series stands at 0 from when it was first read.
    UNION ALL SELECT filename, number, since_ns, since_ns, 0 FROM series
    WHERE carried AND counted AND since_ns IS NOT NULL
), spans AS (
    -- Each mark holds until the next one, the last of them as long as its reader goes on.
    SELECT marks.*, reader, counted, continued, lead(begin_ns, 1, 9223372036854775807) OVER (
        PARTITION BY marks.filename, marks.number ORDER BY begin_ns, end_ns) AS until_ns
    FROM marks JOIN series USING (filename, number)
), counted_spans AS (
    FROM spans WHERE counted AND value IS NOT NULL
), standing AS (
    SELECT filename, reader, number, continued, begin_ns, until_ns, value FROM spans
    WHERE NOT counted AND value IS NOT NULL
    UNION ALL
    SELECT filename, reader, number, continued, end_ns, until_ns, 0 FROM counted_spans
), carried AS (
    SELECT filename, number, begin_ns, end_ns, value FROM counted_spans
    UNION ALL
    -- A counter that is reported late may have been read as zero since before this part, which
    -- no other part says.
    SELECT filename, number,
        if(stretch = 1 AND NOT continued, begin_ns, greatest(begin_ns, from_ns)),
        least(until_ns, to_ns), value
    FROM standing JOIN watched USING (filename, reader)
)
SELECT period, source, "type", metric_class AS class, unit, aggregation, names, names_json,
    (begin_ns + 500_000) // 1_000_000 AS begin_ms, (end_ns + 500_000) // 1_000_000 AS end_ms,
    (end_ns - wall_minus_monotonic_ns + 500_000) // 1_000_000 AS monotonic_ms,
    CASE WHEN counted THEN value::BIGINT END AS count,
    CASE WHEN counted THEN value * scale * 1e9 / (end_ns - begin_ns) ELSE value END AS value
FROM (FROM at_once UNION ALL FROM carried)
JOIN series USING (filename, number)
WHERE end_ns > begin_ns
