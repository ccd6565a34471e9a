-- Pktgen's Lua library, by requests.

local does = {}

-- A function of the library, by its name, with words as its arguments.
function does.call(name, ...)
  local found = pktgen
  for part in name:gmatch("[^.]+") do
    found = found[part]
  end
  found(...)
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

dofile(os.getenv("PLIMSOLL_SERVE"))(does)
pktgen.quit()
