import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node on 127.0.0.1, until standard input ends. */
public class LoopbackNode extends Node {
    private LoopbackNode(Environment environment) {
        super(environment, List.of(Netty4Plugin.class), true);
    }

    /** Arguments: a folder for everything, the HTTP port, the transport port. */
    public static void main(String[] arguments) throws Exception {
        Settings settings = Settings.builder()
            .put("path.home", arguments[0])
            .put("path.data", Path.of(arguments[0], "data").toString())
            .put("node.name", "loopback")
            .put("cluster.name", "plimsoll-tests")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .put("http.port", arguments[1])
            .put("transport.port", arguments[2])
            // The tests' disk may be nearly full.
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "loopback");
        try (LoopbackNode node = new LoopbackNode(environment)) {
            node.start();
            while (System.in.read() >= 0) {
                // Whoever started this has it open.
            }
        }
    }
}
