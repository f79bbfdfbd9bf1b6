package state

import (
	"encoding/binary"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// sharedPages is how many pages the connections to SQLite files keep in one piece of memory. By itself SQLite asks for each page apart, and since a page of 4 KiB comes with a head
// of its own, the allocator gives it 8. While few of these pages are free, a connection takes over one that was not used for long, also of another connection, instead of asking
// for more; what a transaction has changed is never short of pages.
const sharedPages = 640

// pagesShared tells whether SQLite took the memory. It must be told before the first file is opened, by whichever package, so that it is done before main begins. The memory is not
// touched before SQLite is used.
var pagesShared = sharePages()

func sharePages() bool {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.Xmalloc(tls, types.Size_t(4*unsafe.Sizeof(uintptr(0))))
	if args == 0 {
		return false
	}
	defer libc.Xfree(tls, args)
	head := args + 3*unsafe.Sizeof(uintptr(0)) // behind the arguments
	if sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_PCACHE_HDRSZ, libc.VaList(args, head)) != sqlite3.SQLITE_OK {
		return false
	}
	slot := 4096 + int32(binary.NativeEndian.Uint32(libc.GoBytes(head, 4)))
	slot = (slot + 7) &^ 7
	memory := libc.Xmalloc(tls, types.Size_t(slot)*sharedPages) // for as long as the process lives
	if memory == 0 {
		return false
	}
	if sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_PAGECACHE, libc.VaList(args, memory, slot, int32(sharedPages))) != sqlite3.SQLITE_OK {
		libc.Xfree(tls, memory)
		return false
	}
	return true
}
