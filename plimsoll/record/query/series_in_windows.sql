-- What each series came to in each window, as far as it was recorded there (scan.py).
-- Times are counted from the begin of the range, in so many parts of a ms as there are
-- windows: a window then is range_ms long, and every border a whole number. Rows are
-- of any length; few lie in more than two windows, so sums are made for the first, the last
-- and what is between before a row is given to each of its windows.
INSERT INTO parts
WITH rows AS ({rows}),
clipped AS (
    SELECT *, end_ms - begin_ms AS row_ms, ({windows} * (end_ms - begin_ms))::DOUBLE AS row_length,
        {windows} * (greatest(begin_ms, range_begin_ms) - range_begin_ms) AS begins,
        {windows} * (least(end_ms, range_begin_ms + range_ms) - range_begin_ms) AS ends
    FROM rows
    WHERE source = ? AND "type" = ? AND end_ms > begin_ms
        AND end_ms > range_begin_ms AND begin_ms < range_begin_ms + range_ms
), placed AS (
    SELECT *, {first_place} AS first_place, {last_place} AS last_place FROM clipped
), spread AS (
    SELECT *, (least(ends, (first_place + 1) * range_ms) - begins)::DOUBLE AS head,
        (ends - last_place * range_ms)::DOUBLE AS tail, range_ms::DOUBLE AS middle
    FROM placed
), summed AS (
    SELECT {run} AS run, names_json, first_place, last_place,
        {head} AS head, {tail} AS tail, {middle} AS middle,
        sum(head) AS head_covered, sum(tail) AS tail_covered, sum(middle) AS middle_covered
    FROM spread GROUP BY {by_run} names_json, first_place, last_place
), shared AS (
    SELECT *, unnest(range(first_place, last_place + 1)) AS place FROM summed
)
SELECT run, names_json, place,
    {merge}(CASE place WHEN first_place THEN head WHEN last_place THEN tail ELSE middle END),
    sum(CASE place WHEN first_place THEN head_covered WHEN last_place THEN tail_covered
        ELSE middle_covered END)
FROM shared GROUP BY run, names_json, place
