-- What QEMU's model of the 82576 (10.0) needs otherwise than the card, for MoonGen's driver of it.

-- The model frees the receiving stamp when RXSATRH is read, the card when RXSTMPH is: so that is
-- read last, and which frame was stamped is left to the descriptor.
local TSYNCRXCTL, RXSATRH = 0xB620, 0xB630

function dev:hasRxTimestamp()
  return bit.band(dpdkc.read_reg32(self.id, TSYNCRXCTL), 1) ~= 0 and -1 or nil
end

function dev:getRxTimestamp(...)
  local stamp = getmetatable(getmetatable(self)).getRxTimestamp(self, ...)
  dpdkc.read_reg32(self.id, RXSATRH)
  return stamp
end
