-- Pktgen's Lua library, driven by lines; conversation.py is the other side.
--
-- A request is words with a space between them. An answer is one line: "ok", or "error" and what
-- Pktgen says to it, or "ok" and name=value; parts are separated by tabs. Both come and go by
-- files that are open already, so that nothing listens.

local given, taken = os.getenv("PLIMSOLL_PKTGEN"):match("^(%d+),(%d+)$")
local requests = assert(io.open("/dev/fd/" .. given, "r"))
local answers = assert(io.open("/dev/fd/" .. taken, "w"))

local function answer(...)
  local parts = {}
  for _, part in ipairs({ ... }) do
    parts[#parts + 1] = tostring(part):gsub("[%c\127]", " ")
  end
  answers:write(table.concat(parts, "\t"), "\n")
  answers:flush()
end

local does = {}

-- A function of the library, by its name, with words as its arguments.
function does.call(name, ...)
  local found = pktgen
  for part in name:gmatch("[^.]+") do
    found = found[part]
  end
  found(...)
  return {}
end

function does.versions()
  return { "pktgen=" .. pktgen.info.Pktgen_Version, "dpdk=" .. pktgen.info.DPDK_Version }
end

-- Of a port: its link, and the pace that its rate and burst come to.
function does.port(number)
  local paced = pktgen.portInfo(number)[tonumber(number)].info
  return {
    "link=" .. pktgen.linkState(number)[tonumber(number)],
    "pps=" .. paced.tx_debug.tx_pps,
    "cycles=" .. paced.tx_debug.tx_cycles,
    "burst=" .. paced.tx_burst,
  }
end

-- Of its latency frames, by the port that received them.
function does.latency(number)
  local timed = pktgen.pktStats(number)[tonumber(number)].latency
  return { "timed=" .. timed.num_pkts, "skipped=" .. timed.num_skipped }
end

answer("ok")
for line in requests:lines() do
  local words = {}
  for word in line:gmatch("%S+") do
    words[#words + 1] = word
  end
  local fine, said = pcall(does[table.remove(words, 1)], table.unpack(words))
  if fine then
    answer("ok", table.unpack(said))
  else
    answer("error", said)
  end
end
pktgen.quit()
