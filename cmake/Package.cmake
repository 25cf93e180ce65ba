# cpack -G DEB: builds a package for the current Debian release.
set(CPACK_PACKAGE_NAME whyoom)
set(CPACK_PACKAGE_VENDOR whyoom)
set(CPACK_PACKAGE_CONTACT "The whyoom developers <whyoom@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "explain XLA TPU out-of-memory errors in job logs")
set(CPACK_PACKAGE_DESCRIPTION "whyoom reads the log of a job that died on a TPU and reports which
out-of-memory error it is, why it happened and what to do first, with numbers
from the log for every claim. It works offline and needs no TPU.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
include(CPack)
