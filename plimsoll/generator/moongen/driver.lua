-- Ports of MoonGen, by requests: each is sent on and received from by a task of its own.
--
--    MoonGen driver.lua CPUS PORT...
--
-- Ports are named as DPDK names them: in requests they go by their places among these. Tasks are
-- Lua states of their own, so that they are given their settings in memory that is not Lua's.
--
-- Of a card that stamps frames, what RSS knows is received on its second queue, and probes, which
-- are no IP, on the first, which the port's task leaves to that of stamped_probes.lua for a trial
-- that has some.

local device = require "device"
local dpdk = require "dpdk"
local dpdkc = require "dpdkc"
local drivers = require "drivers"
local ffi = require "ffi"
local memory = require "memory"
local moongen = require "moongen"

ffi.cdef [[
  int rte_eth_dev_get_port_by_name(const char* name, uint8_t* port);
  struct plimsoll_field {
    uint32_t offset, width, count, step, base;
  };
  struct plimsoll_port {
    uint32_t sending, active, burst, size, fields, ipv4;
    // Whether it has two queues each way, and whether the first to receive on is to be left to
    // probes, and is.
    uint32_t stamps, timed, left;
    // Probes, and what else came on that queue while it was left to them.
    uint32_t probes_sent, probes_received, others;
    double gap_ticks;
    struct plimsoll_field field[8];
    uint8_t frame[1600];
  };
]]

local stamped_probes = require "stamped_probes"

local MOST_FRAMES = 64
-- A loop that is later than this goes on from now, as MoonGen's own limiters do.
local CATCH_UP_S = 0.01

local function settings_at(address)
  return ffi.cast("struct plimsoll_port*", ffi.cast("uintptr_t", address))
end

local function write_hexadecimal(bytes, written)
  for at = 0, #written / 2 - 1 do
    bytes[at] = tonumber(written:sub(2 * at + 1, 2 * at + 2), 16)
  end
end

local function address_of(allocated)
  return tonumber(ffi.cast("uintptr_t", allocated))
end

local function receive(id, queue, received)
  local count = dpdkc.rte_eth_rx_burst_export(id, queue, received.array, MOST_FRAMES)
  for index = 0, count - 1 do
    dpdkc.rte_pktmbuf_free_export(received.array[index])
  end
end

-- Of an IPv4 header of 20 bytes, written to it (RFC 791).
local function write_checksum(header)
  header[10], header[11] = 0, 0
  local sum = 0
  for at = 0, 18, 2 do
    sum = sum + header[at] * 256 + header[at + 1]
  end
  sum = sum % 65536 + math.floor(sum / 65536)
  sum = 65535 - (sum % 65536 + math.floor(sum / 65536))
  header[10], header[11] = math.floor(sum / 256), sum % 256
end

local function write_fields(port, frame, number)
  for index = 0, port.fields - 1 do
    local field = port.field[index]
    local value = field.base + number % field.count * field.step
    for at = field.offset + field.width - 1, field.offset, -1 do
      frame[at] = value % 256
      value = math.floor(value / 256)
    end
  end
  if port.ipv4 > 0 then
    write_checksum(frame + port.ipv4)
  end
end

-- One port's loop, until MoonGen ends.
function plimsoll_port(id, address)
  local port = settings_at(address)
  local bursts = memory.createMemPool():bufArray(MOST_FRAMES)
  local received = memory.bufArray(MOST_FRAMES)
  local hz = moongen.getCyclesFrequency()
  local began, due, number = moongen.getCycles(), 0, 0
  while moongen.running() do
    if port.timed == 0 then
      receive(id, 0, received)
    end
    if port.stamps == 1 then
      receive(id, 1, received)
    end
    memory.fence()
    port.left = port.timed
    if port.sending == 0 then
      port.active = 0
    else
      if port.active == 0 then
        port.active, began, due, number = 1, moongen.getCycles(), 0, 0
      end
      local now = tonumber(moongen.getCycles() - began)
      if now >= due then
        due = math.max(due, now - CATCH_UP_S * hz) + port.gap_ticks
        bursts:allocN(port.size, port.burst)
        for index = 0, port.burst - 1 do
          local buffer = bursts.array[index]
          local frame = ffi.cast("uint8_t*", buffer.buf_addr) + buffer.data_off
          ffi.copy(frame, port.frame, port.size)
          write_fields(port, frame, number)
          number = number + 1
        end
        dpdkc.dpdk_send_all_packets(id, 0, bursts.array, port.burst)
      end
    end
  end
end

plimsoll_probes = stamped_probes.run

-- By their places: DPDK's numbers of the ports, and their settings.
local ids, ports = {}, {}
local timer

local function port_of(place)
  return ports[tonumber(place)], ids[tonumber(place)]
end

local function each_of(places, change)
  for place in places:gmatch("%d+") do
    change((port_of(place)))
  end
  memory.fence()
end

local function wait_until(so)
  while not so() and moongen.running() do
    moongen.sleepMicrosIdle(100)
    memory.fence()
  end
end

local does = {}

function does.port(place)
  local port, id = port_of(place)
  local opened = device.get(id)
  local link = opened:getLinkStatus()
  return {
    "link=" .. (link.status and "up" or "down"),
    "mbps=" .. tonumber(link.speed),
    "mac=" .. opened:getMacString(),
    "driver=" .. opened:getDriverName(),
    "stamps=" .. port.stamps,
  }
end

function does.count(place)
  local port, id = port_of(place)
  local seen = device.get(id):getStats()
  local parts = {}
  for _, name in ipairs({ "ipackets", "opackets", "imissed", "ierrors", "rx_nombuf" }) do
    parts[#parts + 1] = name .. "=" .. ("%.0f"):format(tonumber(seen[name]))
  end
  for _, name in ipairs({ "probes_sent", "probes_received", "others" }) do
    parts[#parts + 1] = name .. "=" .. port[name]
  end
  return parts
end

-- The frame of a port, in hexadecimal, the offset of its IPv4 header where that is to be made
-- anew (else 0), and its bursts: so many frames, so many nanoseconds apart.
function does.frame(place, written, ipv4, burst, gap_ns)
  local port = port_of(place)
  port.size, port.ipv4, port.fields = #written / 2, tonumber(ipv4), 0
  port.burst = tonumber(burst)
  port.gap_ticks = tonumber(gap_ns) / 1e9 * moongen.getCyclesFrequency()
  write_hexadecimal(port.frame, written)
end

function does.field(place, offset, width, base, count, step)
  local port = port_of(place)
  local field = port.field[port.fields]
  field.offset, field.width, field.base = tonumber(offset), tonumber(width), tonumber(base)
  field.count, field.step = tonumber(count), tonumber(step)
  port.fields = port.fields + 1
end

function does.start(places)
  each_of(places, function(port)
    port.sending = 1
  end)
end

-- Answers when the loops have sent their last.
function does.stop(places)
  each_of(places, function(port)
    port.sending = 0
  end)
  each_of(places, function(port)
    wait_until(function()
      return port.active == 0
    end)
  end)
end

-- A stream of probes: between which ports, the frame, at least how many nanoseconds apart, after
-- how many milliseconds one is given up, and the file for their latencies. The first of a trial
-- has the number 0.
function does.probe(number, from, to, written, gap_ns, wait_ms, file)
  local probes = timer.probes[tonumber(number)]
  probes.sender, probes.from = port_of(from)
  probes.receiver, probes.to = port_of(to)
  probes.size, probes.wait_ms = #written / 2, tonumber(wait_ms)
  probes.gap_ticks = tonumber(gap_ns) / 1e9 * moongen.getCyclesFrequency()
  probes.file = file
  write_hexadecimal(probes.frame, written)
  timer.streams = tonumber(number) + 1
end

local function each_receiver(change)
  for index = 0, timer.streams - 1 do
    change(timer.probes[index].receiver)
  end
  memory.fence()
end

-- Probes are sent from here on.
function does.send()
  each_receiver(function(port)
    port.timed = 1
  end)
  each_receiver(function(port)
    wait_until(function()
      return port.left == 1
    end)
  end)
  stamped_probes.ask(timer, "send", wait_until)
end

-- No more are sent; those that come are counted.
function does.listen()
  stamped_probes.ask(timer, "listen", wait_until)
end

-- Their latencies are in the files.
function does.save()
  stamped_probes.ask(timer, "save", wait_until)
  stamped_probes.ask(timer, "rest", wait_until)
  each_receiver(function(port)
    port.timed = 0
  end)
end

-- Hashed are IP's packets alone.
local function functions_of_ip()
  local functions = {}
  for name, value in pairs(dpdk) do
    if name:match("^ETH_RSS_") and name ~= "ETH_RSS_L2_PAYLOAD" then
      functions[#functions + 1] = value
    end
  end
  return functions
end

-- Whether MoonGen's driver for a card knows its clock, and the card has a second queue.
local function stamps(id)
  local info = device.__devicePrototype.getInfo { id = id }
  local known = drivers[ffi.string(info.driver_name)]
  return known and known.timeRegisters and info.max_rx_queues > 1 and info.reta_size >= 64
end

local function open_port(name)
  local found = ffi.new("uint8_t[1]")
  if ffi.C.rte_eth_dev_get_port_by_name(name, found) ~= 0 then
    error("DPDK has no port " .. name)
  end
  local id, queues = found[0], 1
  local settings = { port = id, rxDescs = 512, txDescs = 512 }
  if stamps(id) then
    queues = 2
    settings.rssQueues, settings.rssFunctions = queues, functions_of_ip()
  end
  settings.rxQueues, settings.txQueues = queues, queues
  local opened = device.config(settings)
  if queues == 2 then
    opened:setRssQueues(1, 1)
  end
  return id, queues - 1
end

function master(cpus, ...)
  local names = { ... }
  local start = cpus == 1 and moongen.startSharedTask or moongen.startTask
  for index, name in ipairs(names) do
    local place, size = index - 1, ffi.sizeof("struct plimsoll_port")
    local port = memory.alloc("struct plimsoll_port*", size)
    ffi.fill(port, size)
    ids[place], port.stamps = open_port(name)
    ports[place] = port
  end
  for place = 0, #names - 1 do
    start("plimsoll_port", ids[place], address_of(ports[place]))
  end
  timer = stamped_probes.timer()
  -- On a CPU of its own, or on the only one.
  if cpus ~= #names + 1 then
    start("plimsoll_probes", address_of(timer))
  end
  dofile(os.getenv("PLIMSOLL_SERVE"))(does)
  moongen.stop()
  moongen.waitForTasks()
end
