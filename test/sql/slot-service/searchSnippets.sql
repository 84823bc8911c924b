select snippet_code as "snippetCode", slot_id as "slotId" from vendor_snippets
where upper(snippet_code collate "und-x-icu") collate "C" >= upper($start::text collate "und-x-icu") collate "C"
and upper(snippet_code collate "und-x-icu") collate "C" <= upper($start::text collate "und-x-icu") collate "C" || repeat(chr(1114111), 128)
order by upper(snippet_code collate "und-x-icu") collate "C", snippet_code collate "C"
limit $limit::bigint
