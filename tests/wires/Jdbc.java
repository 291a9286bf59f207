// JDBC as DBeaver and others use it, against WIRES_POSTGRES with WIRES_TOKEN.
import java.sql.*;
import java.util.*;

public class Jdbc {
    static void check(boolean holds, Object what) {
        if (!holds) throw new AssertionError(what);
    }

    static Connection connect(String more) throws SQLException {
        String address = "jdbc:postgresql://" + System.getenv("WIRES_POSTGRES") + "/whathappened" + more;
        return DriverManager.getConnection(address, "dbeaver", System.getenv("WIRES_TOKEN"));
    }

    public static void main(String[] arguments) throws Exception {
        for (String more : List.of("", "?preferQueryMode=simple", "?prepareThreshold=1&binaryTransfer=true")) {
            try (Connection connection = connect(more)) {
                all(connection, more);
            }
        }
        System.out.println("JDBC: fine");
    }

    static void all(Connection connection, String mode) throws SQLException {
        DatabaseMetaData about = connection.getMetaData();
        Set<String> tables = new TreeSet<>();
        try (ResultSet found = about.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"})) {
            while (found.next()) tables.add(found.getString("TABLE_NAME"));
        }
        check(tables.containsAll(List.of("events", "incidents", "runs")), tables);
        Map<String, String> columns = new TreeMap<>();
        try (ResultSet found = about.getColumns(null, "public", "incidents", "%")) {
            while (found.next()) columns.put(found.getString("COLUMN_NAME"), found.getString("TYPE_NAME"));
        }
        check("text".equals(columns.get("cause")) && "timestamptz".equals(columns.get("time")), columns);
        for (int round = 0; round < 3; round++) {
            String sql = "SELECT cause, time, gpu_hours_lost FROM incidents WHERE experiment = ? AND collateral_count < ?";
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setString(1, "gpt2-small-7f3");
                statement.setInt(2, 1000);
                try (ResultSet rows = statement.executeQuery()) {
                    check(rows.next() && rows.getString(1).equals("node.not_ready"), mode);
                    check(rows.getTimestamp(2) != null && Math.abs(rows.getDouble(3) - 0.29) < 0.01, mode);
                    check(!rows.next(), mode);
                }
            }
        }
        // As DBeaver shows the first rows of a table.
        try (Statement statement = connection.createStatement()) {
            statement.setMaxRows(7);
            try (ResultSet rows = statement.executeQuery("SELECT * FROM events")) {
                int count = 0;
                while (rows.next()) count++;
                // The simple protocol has no way to ask for fewer.
                check(count == 7 || mode.contains("simple"), mode + ": " + count);
            }
        }
        // In portions, as large results are read.
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(10);
            try (ResultSet rows = statement.executeQuery("SELECT id FROM events ORDER BY id LIMIT 35")) {
                int count = 0;
                while (rows.next()) count++;
                check(count == 35, count);
            }
        }
        connection.commit();
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("DELETE FROM events");
            throw new AssertionError("rows were deleted");
        } catch (SQLException error) {
            check("25006".equals(error.getSQLState()), error);
        }
        connection.rollback();
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            statement.executeQuery("SELECT count(*) FROM generate_series(1, 9223372036854775807)");
            throw new AssertionError("it was not cancelled");
        } catch (SQLException error) {
            check("57014".equals(error.getSQLState()), error);
        }
        check(connection.isValid(5), mode);
    }
}
