# Writes the files of the emulated tree that are not built: scripts, version files, folders and links that programs look
# for under /usr/local/Ascend. Runs at install time, when the prefix is known, or alone:
#   cmake -DCMAKE_INSTALL_PREFIX=<Ascend> -DEMUCANN_LAYOUT_VERSION=9.0.0 -DEMUCANN_DRIVER_VERSION=25.5.1+emulated
#         -DEMUCANN_ARCH=x86_64 -P layout.cmake
foreach(variable CMAKE_INSTALL_PREFIX EMUCANN_LAYOUT_VERSION EMUCANN_DRIVER_VERSION EMUCANN_ARCH)
  if("${${variable}}" STREQUAL "")
    message(FATAL_ERROR "layout.cmake: ${variable} is not set")
  endif()
endforeach()
set(EMUCANN_CANN_DIR cann-${EMUCANN_LAYOUT_VERSION})
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
set(atb nnal/atb/${EMUCANN_LAYOUT_VERSION})

function(write template path)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${template} ${root}/${path} @ONLY NEWLINE_STYLE UNIX)
endfunction()

# A script to be sourced: `path` is also how it recognises itself in shells that don't tell.
function(write_script template path)
  set(EMUCANN_SCRIPT ${path})
  file(READ ${CMAKE_CURRENT_LIST_DIR}/locate.sh.in locate)
  string(CONFIGURE "${locate}" EMUCANN_LOCATE @ONLY)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/prepend.sh.in EMUCANN_PREPEND)
  write(${template} ${path})
endfunction()

function(link target path)
  get_filename_component(folder ${root}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${target} ${root}/${path} SYMBOLIC)
endfunction()

write_script(cann/set_env.sh.in ${EMUCANN_CANN_DIR}/set_env.sh)
write(cann/ascendnpu_ir_set_env.sh.in ${EMUCANN_CANN_DIR}/share/info/ascendnpu-ir/bin/set_env.sh)
write(cann/ascend_toolkit_install.info.in ${EMUCANN_CANN_DIR}/${EMUCANN_ARCH}-linux/ascend_toolkit_install.info)
write(cann/version.cfg.in ${EMUCANN_CANN_DIR}/version.cfg)
link(${EMUCANN_ARCH}-linux/lib64 ${EMUCANN_CANN_DIR}/lib64)
# torch-npu refuses to import where one of these is missing (its utils/npu_intercept.py).
foreach(folder opp runtime compiler)
  file(MAKE_DIRECTORY ${root}/${EMUCANN_CANN_DIR}/${folder})
endforeach()
link(${EMUCANN_CANN_DIR} cann)

write_script(ascend-toolkit/set_env.sh.in ascend-toolkit/set_env.sh)
link(../cann ascend-toolkit/latest)

write_script(nnal/set_env.sh.in nnal/set_env.sh)
write_script(nnal/atb_set_env.sh.in nnal/atb/set_env.sh)
write(nnal/version.info.in ${atb}/version.info)
link(${EMUCANN_LAYOUT_VERSION} nnal/atb/latest)
# One library serves both: its symbols are those that the installed torch-npu asks for, in whichever ABI.
link(cxx_abi_1 ${atb}/atb/cxx_abi_0)

write(driver/version.info.in driver/version.info)
