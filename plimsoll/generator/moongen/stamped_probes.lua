-- Probes in PTP's frames, which cards stamp as they leave and as they come: MoonGen's timestamper,
-- asked by driver.lua for all ports.
--
-- One task has the streams of probes and takes them in turns, with one probe under way at a time,
-- as the clocks of both cards are set anew before each.

local device = require "device"
local ffi = require "ffi"
local histogram = require "histogram"
local memory = require "memory"
local moongen = require "moongen"
local timestamping = require "timestamping"

ffi.cdef [[
  int memcmp(const void* one, const void* other, size_t bytes);
  struct plimsoll_probes {
    // Between which ports: their settings, and DPDK's numbers of them.
    struct plimsoll_port *sender, *receiver;
    uint32_t from, to, size, wait_ms;
    double gap_ticks;
    char file[512];
    uint8_t frame[1600];
  };
  struct plimsoll_timer {
    // What the task is to do, and what it does.
    uint32_t asked, doing, streams;
    struct plimsoll_probes probes[16];
  };
]]

local DOES = { rest = 0, send = 1, listen = 2, save = 3 }
-- To send on, and to receive from; load has the others.
local TX_QUEUE, RX_QUEUE = 1, 0
-- The sequence number of PTP's header, which the timestamper writes (IEEE 1588-2019, 13.3).
local SEQUENCE, BEHIND_SEQUENCE = 14 + 30, 14 + 32
local MAC_ADDRESSES = 12

-- Whether a frame is one of the stream's, whatever addresses it has come to have.
local function is_probe(probes, buffer)
  local frame = ffi.cast("uint8_t*", buffer.buf_addr) + buffer.data_off
  local function same(from, to)
    return ffi.C.memcmp(frame + from, probes.frame + from, to - from) == 0
  end
  return buffer.data_len == probes.size
    and same(MAC_ADDRESSES, SEQUENCE)
    and same(BEHIND_SEQUENCE, probes.size)
end

-- The queue that probes come on, which counts what comes.
local function counted(queue, probes)
  local counting = setmetatable({}, { __index = queue })
  function counting:tryRecv(buffers, longest_us)
    local count = queue:tryRecv(buffers, longest_us)
    local port = probes.receiver
    for index = 0, count - 1 do
      if is_probe(probes, buffers.array[index]) then
        port.probes_received = port.probes_received + 1
      else
        port.others = port.others + 1
      end
    end
    return count
  end
  return counting
end

-- MoonGen's own are kept, as each sets filters of the card.
local timestampers = {}

local function timestamper_of(probes)
  local name = probes.from .. "-" .. probes.to
  if not timestampers[name] then
    local sends = device.get(probes.from):getTxQueue(TX_QUEUE)
    local receives = device.get(probes.to):getRxQueue(RX_QUEUE)
    timestampers[name] = timestamping:newTimestamper(sends, receives)
  end
  return timestampers[name]
end

local function stream_of(probes)
  local timestamper = timestamper_of(probes)
  local receives = device.get(probes.to):getRxQueue(RX_QUEUE)
  timestamper.rxQueue = counted(receives, probes)
  return {
    probes = probes,
    timestamper = timestamper,
    latencies = histogram:new(),
    began = moongen.getCycles(),
    due = 0,
  }
end

-- The profile's frame, with the sequence number that is in it.
local function write_probe(probes)
  return function(buffer)
    local frame = ffi.cast("uint8_t*", buffer.buf_addr) + buffer.data_off
    local high, low = frame[SEQUENCE], frame[SEQUENCE + 1]
    ffi.copy(frame, probes.frame, probes.size)
    frame[SEQUENCE], frame[SEQUENCE + 1] = high, low
  end
end

local function listen(stream)
  local timestamper = stream.timestamper
  timestamper.rxQueue:tryRecv(timestamper.rxBufs, 0)
  timestamper.rxBufs:freeAll()
end

-- Send one if it is due, and time it.
local function probe(stream)
  local probes = stream.probes
  local now = tonumber(moongen.getCycles() - stream.began)
  if now < stream.due then
    return listen(stream)
  end
  stream.due = math.max(stream.due + probes.gap_ticks, now)
  probes.sender.probes_sent = probes.sender.probes_sent + 1
  local write = write_probe(probes)
  local latency_ns = stream.timestamper:measureLatency(probes.size, write, probes.wait_ms)
  stream.latencies:update(latency_ns)
end

local function save(stream)
  stream.latencies:save(ffi.string(stream.probes.file))
end

local DONE_EACH_TURN = { [DOES.send] = probe, [DOES.listen] = listen }

local module = {}

-- The task, until MoonGen ends; `address` is that of a `timer`.
function module.run(address)
  local timer = ffi.cast("struct plimsoll_timer*", ffi.cast("uintptr_t", address))
  local streams = {}
  local function each_stream(act)
    for _, stream in ipairs(streams) do
      act(stream)
    end
  end
  while moongen.running() do
    memory.fence()
    local asked = timer.asked
    if asked ~= timer.doing then
      if asked == DOES.send then
        streams = {}
        for index = 0, timer.streams - 1 do
          streams[index + 1] = stream_of(timer.probes[index])
        end
      elseif asked == DOES.save then
        each_stream(save)
      end
      timer.doing = asked
    end
    if DONE_EACH_TURN[asked] then
      each_stream(DONE_EACH_TURN[asked])
    else
      moongen.sleepMillisIdle(1)
    end
  end
end

-- What the task shares with whom asks it.
function module.timer()
  local size = ffi.sizeof("struct plimsoll_timer")
  local timer = memory.alloc("struct plimsoll_timer*", size)
  ffi.fill(timer, size)
  return timer
end

-- Return once it does that: send, listen, save, rest.
function module.ask(timer, what, wait_until)
  timer.asked = DOES[what]
  memory.fence()
  wait_until(function()
    return timer.doing == timer.asked
  end)
end

return module
