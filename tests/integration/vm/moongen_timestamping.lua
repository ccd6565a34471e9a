-- The same of MoonGen's clocks. The model's SYSTIM cannot be set, and TIMADJ is added to it as a
-- number of 64 bits, whereas the card's has its sign in the top bit: so the second clock is set by
-- what the two differ by, which never changes in the model.
local SYSTIML, SYSTIMH, TIMADJL, TIMADJH = 0xB600, 0xB604, 0xB60C, 0xB610
local READINGS = 200
local agree = {}

local function clock(id)
  local low = dpdkc.read_reg32(id, SYSTIML)
  return 0LL + dpdkc.read_reg32(id, SYSTIMH) * 2LL ^ 32 + low
end

local function low_and_high(number)
  local low = bit.band(number, 0xFFFFFFFFLL)
  return tonumber(low), tonumber(bit.band(bit.rshift(number, 32), 0xFFFFFFFFLL))
end

function mod.syncClocks(one, other)
  local pair = one.id .. "-" .. other.id
  if not agree[pair] then
    local least, most
    for _ = 1, READINGS do
      local before = clock(one.id)
      local between = clock(other.id)
      local after = clock(one.id)
      least = (not least or between - after > least) and between - after or least
      most = (not most or between - before < most) and between - before or most
    end
    local low, high = low_and_high(-(least + most) / 2)
    dpdkc.write_reg32(other.id, TIMADJL, low)
    dpdkc.write_reg32(other.id, TIMADJH, high)
    agree[pair], agree[other.id .. "-" .. one.id] = true, true
  end
  one:resetTimeCounters()
  other:resetTimeCounters()
end
