-- Ports of MoonGen, by requests: each is sent on and received from by a task of its own.
--
--    MoonGen driver.lua PORTS own|shared
--
-- Tasks are Lua states of their own, so that they are given their settings in memory that is not
-- Lua's.

local device = require "device"
local dpdkc = require "dpdkc"
local ffi = require "ffi"
local memory = require "memory"
local moongen = require "moongen"

ffi.cdef [[
  struct plimsoll_field {
    uint32_t offset, width, count, step, base;
  };
  struct plimsoll_port {
    uint32_t sending, active, burst, size, fields, ipv4;
    double gap_ticks;
    struct plimsoll_field field[8];
    uint8_t frame[1600];
  };
]]

local MOST_FRAMES = 64
-- A loop that is later than this goes on from now, as MoonGen's own limiters do.
local CATCH_UP_S = 0.01

local function settings_at(address)
  return ffi.cast("struct plimsoll_port*", ffi.cast("uintptr_t", address))
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
    local count = dpdkc.rte_eth_rx_burst_export(id, 0, received.array, MOST_FRAMES)
    for index = 0, count - 1 do
      dpdkc.rte_pktmbuf_free_export(received.array[index])
    end
    memory.fence()
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

local ports = {}

local function each_of(numbers, change)
  for number in numbers:gmatch("%d+") do
    change(ports[tonumber(number)])
  end
  memory.fence()
end

local does = {}

function does.port(number)
  local opened = device.get(tonumber(number))
  local link = opened:getLinkStatus()
  return {
    "link=" .. (link.status and "up" or "down"),
    "mbps=" .. tonumber(link.speed),
    "mac=" .. opened:getMacString(),
    "driver=" .. opened:getDriverName(),
  }
end

function does.count(number)
  local seen = device.get(tonumber(number)):getStats()
  local parts = {}
  for _, name in ipairs({ "ipackets", "opackets", "imissed", "ierrors", "rx_nombuf" }) do
    parts[#parts + 1] = name .. "=" .. ("%.0f"):format(tonumber(seen[name]))
  end
  return parts
end

-- The frame of a port, in hexadecimal, the offset of its IPv4 header where that is to be made
-- anew (else 0), and its bursts: so many frames, so many nanoseconds apart.
function does.frame(number, written, ipv4, burst, gap_ns)
  local port = ports[tonumber(number)]
  port.size, port.ipv4, port.fields = #written / 2, tonumber(ipv4), 0
  port.burst = tonumber(burst)
  port.gap_ticks = tonumber(gap_ns) / 1e9 * moongen.getCyclesFrequency()
  for at = 0, port.size - 1 do
    port.frame[at] = tonumber(written:sub(2 * at + 1, 2 * at + 2), 16)
  end
end

function does.field(number, offset, width, base, count, step)
  local port = ports[tonumber(number)]
  local field = port.field[port.fields]
  field.offset, field.width, field.base = tonumber(offset), tonumber(width), tonumber(base)
  field.count, field.step = tonumber(count), tonumber(step)
  port.fields = port.fields + 1
end

function does.start(numbers)
  each_of(numbers, function(port)
    port.sending = 1
  end)
end

-- Answers when the loops have sent their last.
function does.stop(numbers)
  each_of(numbers, function(port)
    port.sending = 0
  end)
  each_of(numbers, function(port)
    while port.active == 1 and moongen.running() do
      moongen.sleepMicrosIdle(100)
      memory.fence()
    end
  end)
end

function master(count, place)
  local start = place == "shared" and moongen.startSharedTask or moongen.startTask
  for id = 0, count - 1 do
    device.config { port = id, rxQueues = 1, txQueues = 1, rxDescs = 256, txDescs = 256 }
    local size = ffi.sizeof("struct plimsoll_port")
    ports[id] = memory.alloc("struct plimsoll_port*", size)
    ffi.fill(ports[id], size)
    start("plimsoll_port", id, tonumber(ffi.cast("uintptr_t", ports[id])))
  end
  dofile(os.getenv("PLIMSOLL_SERVE"))(does)
  moongen.stop()
  moongen.waitForTasks()
end
