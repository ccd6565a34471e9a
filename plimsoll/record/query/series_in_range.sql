-- What each series came to over the whole range, as far as it was recorded there: the same
-- as series_in_windows.sql does for several windows, in a third of the time.
INSERT INTO parts
WITH rows AS ({rows}),
clipped AS (
    SELECT *, end_ms - begin_ms AS row_ms, (end_ms - begin_ms)::DOUBLE AS row_length,
        (least(end_ms, range_begin_ms + range_ms) - greatest(begin_ms, range_begin_ms))::DOUBLE
            AS head
    FROM rows
    WHERE source = ? AND "type" = ? AND end_ms > begin_ms
        AND end_ms > range_begin_ms AND begin_ms < range_begin_ms + range_ms
)
SELECT {run} AS run, names_json, 0, {head}, sum(head)
FROM clipped GROUP BY {by_run} names_json
