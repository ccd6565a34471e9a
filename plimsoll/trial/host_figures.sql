-- What groups of series of one metric came to over a time (HostFigure says what each is).
-- A group is the series with the same key; the conditions say which series count. Parameters
-- are those of the key, the time's begin and end in ms, source, type, those of the conditions.
-- Rows are of any length: each weighs by what of it lies in the time.
FROM (WITH seen AS (
    SELECT {key} AS key, names::VARCHAR AS series, unit, aggregation, value, count,
        (begin_ms + end_ms) / 2 >= from_ms AND (begin_ms + end_ms) / 2 < until_ms AS mostly,
        greatest(begin_ms, from_ms) AS begin_ms, least(end_ms, until_ms) AS end_ms
    FROM rows, (SELECT ?::DOUBLE AS from_ms, ?::DOUBLE AS until_ms)
    WHERE source = ? AND "type" = ? AND begin_ms < until_ms AND end_ms > from_ms {conditions}
), by_series AS (
    SELECT key, any_value(unit) AS unit, any_value(aggregation) AS aggregation,
        sum(end_ms - begin_ms) AS seen_ms, sum(value * (end_ms - begin_ms)) AS area,
        max(value) AS peak, min(value) AS low, sum(CASE WHEN mostly THEN count ELSE 0 * count END) AS total
    FROM seen WHERE end_ms > begin_ms GROUP BY key, series
), steps AS (
    SELECT key, begin_ms AS at_ms, value AS step, 1 AS series FROM seen
    UNION ALL SELECT key, end_ms, -value, -1 FROM seen
), levels AS (
    -- What all series of a group come to together, from each moment on at which one changes.
    SELECT key, sum(sum(step)) OVER time AS level, sum(sum(series)) OVER time AS series
    FROM steps GROUP BY key, at_ms WINDOW time AS (PARTITION BY key ORDER BY at_ms)
), moments AS (
    -- No moment is low because a series of the group was not seen yet.
    SELECT *, series = max(series) OVER (PARTITION BY key) AS of_all FROM levels WHERE series > 0
), extremes AS (
    -- Sums of floats that should cancel out do so to the ninth digit.
    SELECT key, round(max(level), 9) AS peak_of_sum, round(max(level / series), 9) AS peak_of_mean,
        round(min(level) FILTER (WHERE of_all), 9) AS low_of_sum,
        round(min(level / series) FILTER (WHERE of_all), 9) AS low_of_mean
    FROM moments GROUP BY key
)
SELECT key, any_value(unit),
    CASE any_value(aggregation)
        WHEN 'sum' THEN sum(area) / max(seen_ms)
        WHEN 'mean' THEN sum(area) / sum(seen_ms)
        WHEN 'max' THEN max(area / seen_ms)
        ELSE min(area / seen_ms)
    END,
    CASE any_value(aggregation)
        WHEN 'sum' THEN any_value(peak_of_sum)
        WHEN 'mean' THEN any_value(peak_of_mean)
        WHEN 'max' THEN max(peak)
        ELSE min(peak)
    END,
    CASE any_value(aggregation)
        WHEN 'sum' THEN any_value(low_of_sum)
        WHEN 'mean' THEN any_value(low_of_mean)
        WHEN 'max' THEN max(low)
        ELSE min(low)
    END,
    CASE any_value(aggregation) WHEN 'max' THEN max(total) ELSE sum(total) END::BIGINT,
    max(seen_ms) / 1e3
FROM by_series JOIN extremes USING (key) GROUP BY key ORDER BY key)
