! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Block-sparse matrices and arrays of numbers: the same for each kind, under the same generic names.
#define NUMBER real(sp)
#define LETTER 's'
module tessera_block_arrays_s
#include "block_arrays.inc"
end module
#undef NUMBER
#undef LETTER

#define NUMBER real(dp)
#define LETTER 'd'
module tessera_block_arrays_d
#include "block_arrays.inc"
end module
#undef NUMBER
#undef LETTER

#define NUMBER complex(sp)
#define LETTER 'c'
module tessera_block_arrays_c
#include "block_arrays.inc"
end module
#undef NUMBER
#undef LETTER

#define NUMBER complex(dp)
#define LETTER 'z'
module tessera_block_arrays_z
#include "block_arrays.inc"
end module
#undef NUMBER
#undef LETTER

module tessera_block_arrays
  use tessera_block_arrays_s
  use tessera_block_arrays_d
  use tessera_block_arrays_c
  use tessera_block_arrays_z
  implicit none
  public
end module
