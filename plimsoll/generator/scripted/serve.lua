-- Requests of conversation.py, served inside a program that has Lua: 5.3 or LuaJIT.
--
-- A request is words with a space between them; the first names what is to be done. An answer is
-- one line: "ok", or "error" and what went wrong, or "ok" and name=value; parts are separated by
-- tabs. Both come and go by files that are open already, so that nothing listens.

local unpack = table.unpack or unpack

-- Serve until there are no more requests: each calls the function of `does` that it names, which
-- returns the parts of the answer.
return function(does)
  local given, taken = os.getenv("PLIMSOLL_FILES"):match("^(%d+),(%d+)$")
  local requests = assert(io.open("/proc/self/fd/" .. given, "r"))
  local answers = assert(io.open("/proc/self/fd/" .. taken, "w"))

  local function answer(...)
    local parts = {}
    for _, part in ipairs({ ... }) do
      parts[#parts + 1] = tostring(part):gsub("[%c\127]", " ")
    end
    answers:write(table.concat(parts, "\t"), "\n")
    answers:flush()
  end

  answer("ok")
  for line in requests:lines() do
    local words = {}
    for word in line:gmatch("%S+") do
      words[#words + 1] = word
    end
    local fine, said = pcall(does[table.remove(words, 1)], unpack(words))
    if fine then
      answer("ok", unpack(said or {}))
    else
      answer("error", said)
    end
  end
end
